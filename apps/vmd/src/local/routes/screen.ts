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
    name: 'showConsole',
    method: 'GET',
    path: '/console/:id',
    permission: 'local',
    answers: { 200: 'text/html' },
    doc: 'A page that shows the VM’s screen and takes keys and pointer for it; the bytes come by a WebSocket at /console/{id}/screen.',
    async handle({ consoles, host }, { params: { id }, page, reads, carriesToken }) {
      // Who has not shown a token that is wanted learns nothing of which VMs there are.
      const isThere = carriesToken !== true || engine.listKnown(host).some((vm) => vm.id === id)
      if (!isThere && reads !== true) throw new Fault('not-found', `there is no VM ${id}`)
      const answer = await consoles.page(page ?? { method: 'GET', path: '', headers: {} })
      // A person reads on the page itself that there is none.
      return isThere ? answer : { ...answer, status: 404 }
    },
  }),
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
