import * as engine from '@skerry/engine'
import { Type } from '@skerry/schema'

import { route } from '../route.ts'
import { successAnswer, SuccessBody } from '../words.ts'

/** Up to 999 seconds. */
const Patience = Type.Object({ wait: Type.Optional(Type.String({ pattern: '^[0-9]{1,3}$' })) })

export const address = [
  route({
    name: 'readAddress',
    method: 'GET',
    path: '/api/vms/:id/ipaddress',
    permission: 'local',
    query: Patience,
    answers: { 200: SuccessBody },
    doc: 'The address of the guest; 409 with the reason if it has none. wait=SECONDS waits until it has one.',
    async handle({ host }, { params, query: { wait } }) {
      const found = Number(wait ?? 0)
        ? await engine.waitForAddress(host, params.id, Number(wait) * 1000)
        : await engine.readAddress(host, params.id)
      return successAnswer(found.address)
    },
  }),
]
