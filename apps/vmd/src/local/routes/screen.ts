import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { Type } from 'typebox'

import { route } from '../route.ts'
import { powerWord, StateWord } from '../words.ts'

const ScreenBody = Type.Object({
  page: Type.String(),
  state: StateWord,
  expires: Type.Optional(Type.String({ format: 'date-time' })),
})

export const screen = [
  route({
    name: 'takeScreenshot',
    method: 'GET',
    path: '/api/vms/:id/screenshot',
    permission: 'local',
    answers: { 200: 'image/png' },
    doc: 'What is on the VM’s screen now.',
    async handle({ host }, { params }) {
      const { mediaType, bytes } = await engine.takeScreenshot(host, params.id)
      if (mediaType !== 'image/png')
        throw new Fault('unavailable', `this host’s QEMU draws ${mediaType}, not PNG`, {
          hint: 'install QEMU 7.1 or newer',
        })
      return {
        status: 200,
        headers: { 'content-type': mediaType, 'cache-control': 'no-store' },
        body: bytes,
      }
    },
  }),
  route({
    name: 'openScreen',
    method: 'POST',
    path: '/api/vms/:id/screen',
    permission: 'local',
    answers: { 201: ScreenBody },
    doc: 'Where a browser shows the VM’s screen, below this address. With --token-file it has a ticket in it, good once and for 30 s.',
    async handle({ consoles }, { params }) {
      const { page, power, expires } = await consoles.offer(params.id)
      const body = { page, state: powerWord[power], expires: expires?.toISOString() }
      return { status: 201, headers: { 'cache-control': 'no-store' }, body }
    },
  }),
]
