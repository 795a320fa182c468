import { Fault } from '@skerry/fault'
import { hashOf, issueTicket } from '@skerry/ticket'
import { element } from '@skerry/xml'

import { at } from '../addresses.ts'
import { route } from '../route.ts'
import { hasScreen } from '../vm-status.ts'

export const screens = [
  route({
    name: 'acquireTicket',
    method: 'POST',
    path: at.ticket,
    permission: 'vm:console',
    answers: { 200: 'screenTicket' },
    doc: 'A ticket to the screen of a VM that is on: good once, for 30 seconds.',
    async handle(world, { who, params: { entity } }) {
      if (entity.is !== 'vm') throw new Fault('invalid', 'a vApp has no screen; its VMs have')
      const { id, name, shown, host, boot } = entity.vm
      if (!hasScreen(entity.vm) || host === null || boot === null) {
        throw new Fault(
          'conflict',
          `VM ${name} is ${shown}; only one that is POWERED_ON has a screen`,
        )
      }
      const ticket = world.secret()
      const hash = hashOf(ticket)
      // The host first: a ticket to a machine that does not answer is worth nothing, and is not given out.
      await world.screens(host).arm({ vm: id, boot, ticketHash: hash.toString('hex') })
      await world.as(who, (tx) => issueTicket(tx, { hash, vm: entity.vm, boot, host, who }))
      const text = `mks://${world.console}/vm-${id}?ticket=${ticket}`
      return { status: 200, body: element('ScreenTicket', {}, text) }
    },
  }),
]
