import * as engine from '@skerry/engine'
import { word } from '@skerry/service'

import { route } from '../route.ts'
import { powerWord, said, Said } from '../words.ts'

/** The six of the spec; reset and reboot have an address of their own. */
const commands = ['on', 'off', 'shutdown', 'suspend', 'pause', 'unpause'] as const

export const power = [
  route({
    name: 'changePower',
    method: 'PATCH',
    path: '/api/vms/power/:id',
    permission: 'local',
    takes: word(commands),
    answers: { 200: Said },
    doc: 'Changes the power state; the command is the whole body.',
    async handle({ host }, { params, body }) {
      return said(powerWord[await engine.changePower(host, params.id, body)])
    },
  }),
  route({
    name: 'readPower',
    method: 'GET',
    path: '/api/vms/power/:id',
    permission: 'local',
    answers: { 200: Said },
    doc: 'The power state.',
    async handle({ host }, { params }) {
      return said(powerWord[await engine.readPower(host, params.id)])
    },
  }),
  route({
    name: 'resetVm',
    method: 'POST',
    path: '/api/vms/:id/reset',
    permission: 'local',
    answers: { 200: Said },
    doc: 'Starts the guest anew as the button on a machine does; it is not asked.',
    async handle({ host }, { params }) {
      return said(powerWord[await engine.changePower(host, params.id, 'reset')])
    },
  }),
  route({
    name: 'rebootVm',
    method: 'POST',
    path: '/api/vms/:id/reboot',
    permission: 'local',
    answers: { 200: Said },
    doc: 'Asks the guest to start anew. It is answered when the guest was asked, not when it is up again.',
    async handle({ host }, { params }) {
      return said(powerWord[await engine.changePower(host, params.id, 'reboot')])
    },
  }),
]
