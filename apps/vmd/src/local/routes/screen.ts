import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'

import { route } from '../route.ts'

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
]
