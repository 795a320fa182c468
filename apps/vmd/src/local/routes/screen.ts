import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'

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
    doc: 'A page with the VM’s screen, keyboard and pointer; its data comes from a WebSocket at /console/{id}/screen.',
    async handle({ consoles, host }, { params: { id }, page, reads, carriesToken }) {
      // A client without the required token must not learn which VMs exist.
      const isThere = carriesToken !== true || engine.listKnown(host).some((vm) => vm.id === id)
      if (!isThere && reads !== true) throw new Fault('not-found', `there is no VM ${id}`)
      const answer = await consoles.page(page ?? { method: 'GET', path: '', headers: {} })
      // The page itself shows that the VM does not exist.
      return isThere ? answer : { ...answer, status: 404 }
    },
  }),
  route({
    name: 'takeScreenshot',
    method: 'GET',
    path: '/api/vms/:id/screenshot',
    permission: 'local',
    answers: { 200: 'image/png' },
    doc: 'A screenshot of the VM’s screen.',
    async handle({ host }, { params }) {
      const { mediaType, bytes } = await engine.takeScreenshot(host, params.id)
      if (mediaType !== 'image/png')
        throw new Fault('unavailable', `QEMU on this host creates ${mediaType}, not PNG`, {
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
    changes: [],
    answers: { 201: ScreenBody },
    doc: 'Returns the path of a page with the VM’s screen. With --token-file it contains a ticket, valid once and for 30 s.',
    async handle({ consoles }, { params }) {
      const { page, power, expires } = await consoles.offer(params.id)
      const body = { page, state: powerWord[power], expires: expires?.toISOString() }
      return { status: 201, headers: { 'cache-control': 'no-store' }, body }
    },
  }),
]
