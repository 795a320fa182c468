import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import { json } from '@skerry/service'

import { route } from '../route.ts'

const PORT_MAX = 65_535
/** Linux lets only root listen on ports below. */
const FIRST_OF_ALL = 1024
const Port = Type.Integer({ minimum: 1, maximum: PORT_MAX })
const addresses = ['127.0.0.1', '::1'] as const

const NewForward = Type.Object({
  hostPort: Port,
  guestPort: Port,
  protocol: Type.Optional(Type.Enum(['tcp'])),
  hostAddress: Type.Optional(Type.Enum([...addresses])),
})

const ForwardBody = Type.Object({
  hostAddress: Type.Enum([...addresses]),
  hostPort: Port,
  guestPort: Port,
  protocol: Type.Enum(['tcp']),
})

export const forwards = [
  route({
    name: 'addForward',
    method: 'POST',
    path: '/api/vms/:id/forwards',
    permission: 'local',
    changes: ['forwards'],
    takes: json(NewForward),
    answers: { 201: ForwardBody },
    doc: 'Forwards a port of this machine, on 127.0.0.1 or ::1 only, to a port of the guest; it persists across restarts. A port that is in use is rejected with the name of its owner.',
    async handle({ forwards: all }, { params, body, uid }) {
      const { hostPort, guestPort, protocol = 'tcp', hostAddress = '127.0.0.1' } = body
      if (hostPort < FIRST_OF_ALL && uid !== 0)
        throw new Fault('forbidden', `only root may forward ports below ${FIRST_OF_ALL}`)
      const forward = { hostAddress, hostPort, guestPort, protocol }
      return { status: 201, body: await all.add(params.id, forward) }
    },
  }),
  route({
    name: 'listForwards',
    method: 'GET',
    path: '/api/vms/:id/forwards',
    permission: 'local',
    answers: {
      200: Type.Array(Type.Intersect([ForwardBody, Type.Object({ listening: Type.Boolean() })])),
    },
    doc: 'All forwards of the VM, and whether each has its port now.',
    async handle({ forwards: all }, { params }) {
      return { status: 200, body: all.list(params.id) }
    },
  }),
  route({
    name: 'removeForward',
    method: 'DELETE',
    path: '/api/vms/:id/forwards/:hostPort',
    permission: 'local',
    changes: ['forwards'],
    answers: { 204: 'nothing' },
    doc: 'Removes a forward; connections through it are closed.',
    async handle({ forwards: all }, { params }) {
      if (!/^[1-9]\d{0,4}$/.test(params.hostPort))
        throw new Fault('invalid', `the port must be a number from 1 to ${PORT_MAX}`)
      await all.remove(params.id, Number(params.hostPort))
      return { status: 204 }
    },
  }),
]
