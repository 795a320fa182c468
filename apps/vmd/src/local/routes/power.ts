import * as engine from '@skerry/engine'
import { word } from '@skerry/service'
import { powerRules, type PowerCommand } from '@skerry/vm'

import { route } from '../route.ts'
import { powerWord, successAnswer, SuccessBody } from '../words.ts'

/** The six commands of the specification; reset and reboot have their own paths. */
const commands = ['on', 'off', 'shutdown', 'suspend', 'pause', 'unpause'] as const

export const power = [
  route({
    name: 'changePower',
    method: 'PATCH',
    path: '/api/vms/power/:id',
    permission: 'local',
    changes: ['vms'],
    operation: (params, body) => ({
      vm: (params as { readonly id: string }).id,
      goal: powerRules[body as PowerCommand].to,
    }),
    takes: word(commands),
    answers: { 200: SuccessBody },
    doc: 'Changes the power state; the body is the command.',
    async handle({ host }, { params, body }) {
      return successAnswer(powerWord[await engine.changePower(host, params.id, body)])
    },
  }),
  route({
    name: 'readPower',
    method: 'GET',
    path: '/api/vms/power/:id',
    permission: 'local',
    answers: { 200: SuccessBody },
    doc: 'The power state.',
    async handle({ host }, { params }) {
      return successAnswer(powerWord[await engine.readPower(host, params.id)])
    },
  }),
  route({
    name: 'resetVm',
    method: 'POST',
    path: '/api/vms/:id/reset',
    permission: 'local',
    changes: ['vms'],
    answers: { 200: SuccessBody },
    doc: 'Resets the guest like the reset button of a machine; the guest is not asked.',
    async handle({ host }, { params }) {
      return successAnswer(powerWord[await engine.changePower(host, params.id, 'reset')])
    },
  }),
  route({
    name: 'rebootVm',
    method: 'POST',
    path: '/api/vms/:id/reboot',
    permission: 'local',
    changes: [],
    answers: { 200: SuccessBody },
    doc: 'Asks the guest to reboot. The answer comes when the guest was asked, not when it has rebooted.',
    async handle({ host }, { params }) {
      return successAnswer(powerWord[await engine.changePower(host, params.id, 'reboot')])
    },
  }),
]
