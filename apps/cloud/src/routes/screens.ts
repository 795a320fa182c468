import { Fault } from '@skerry/fault'
import { hashOf, issueTicket } from '@skerry/ticket'
import type { VmId } from '@skerry/vm'
import { element } from '@skerry/xml'

import { at } from '../addresses.ts'
import { blackPicture } from '../documents/black-picture.ts'
import type { Things } from '../http/things.ts'
import type { Who } from '../identity/authorize.ts'
import { route } from '../route.ts'
import type { VmRow } from '../store/vms.ts'
import { hasScreen } from '../vm-status.ts'
import type { RequestWorld } from '../world.ts'

/** As QEMU's own, before a guest has chosen another size. */
const black = blackPicture(720, 400)

const HTTPS_PORT = '443'

export const screens = [
  route({
    name: 'acquireTicket',
    method: 'POST',
    path: at.ticket,
    permission: 'vm:console',
    answers: { 200: 'screenTicket' },
    doc: 'A ticket to the screen of a VM that is on: good once, for 30 seconds. Beside it, until when it is good, and where a WebSocket finds the screen.',
    async handle(world, { who, params: { entity } }) {
      const { vm, ticket, ...more } = await issue(world, who, vmOf(entity))
      const text = `mks://${world.console}/vm-${vm}?ticket=${ticket}`
      return { status: 200, body: element('ScreenTicket', more, text) }
    },
  }),
  route({
    name: 'acquireMksTicket',
    method: 'POST',
    path: at.mksTicket,
    permission: 'vm:console',
    since: '5.5',
    answers: { 200: 'mksTicket' },
    doc: 'The same ticket in its parts, as clients of 5.5 ask for it. They dial the host and the port; the address with the ticket in it is beside them.',
    async handle(world, { who, params: { entity } }) {
      const { vm, ticket, ...more } = await issue(world, who, vmOf(entity))
      const { hostname, port } = new URL(`https://${world.console}`)
      return {
        status: 200,
        body: element(
          'MksTicket',
          more,
          element('Host', {}, hostname),
          element('Vmx', {}, `vm-${vm}`),
          element('Ticket', {}, ticket),
          element('Port', {}, port === '' ? HTTPS_PORT : port),
        ),
      }
    },
  }),
  route({
    name: 'takeScreenshot',
    method: 'GET',
    path: at.screen,
    permission: 'vm:console',
    answers: { 200: 'image/png' },
    doc: 'What is on the screen of a VM now, as PNG; a black picture of a VM that has none.',
    async handle(world, { params: { entity } }) {
      const body = await pictureOf(world, vmOf(entity))
      return { status: 200, headers: { 'cache-control': 'no-store' }, body }
    },
  }),
]

interface Issued {
  readonly vm: VmId
  readonly ticket: string
  /** Until when it is good. */
  readonly expires: string
  /** Where a WebSocket finds the screen. */
  readonly wss: string
}

async function issue(world: RequestWorld, who: Who, vm: VmRow): Promise<Issued> {
  const { id, name, shown, host, boot } = vm
  if (!hasScreen(vm) || host === null || boot === null) {
    throw new Fault('conflict', `VM ${name} is ${shown}; only one that is POWERED_ON has a screen`)
  }
  const ticket = world.secret()
  const hash = hashOf(ticket)
  // The host first: a ticket to a machine that does not answer is worth nothing, and is not given out.
  await world.screens(host).arm({ vm: id, boot, ticketHash: hash.toString('hex') })
  const expires = await world.as(who, (tx) => issueTicket(tx, { hash, vm, boot, host, who }))
  const wss = `wss://${world.console}/screen/vm-${id}?ticket=${ticket}`
  return { vm: id, ticket, expires: expires.toISOString(), wss }
}

function vmOf(entity: Things['entity']): VmRow {
  if (entity.is === 'vm') return entity.vm
  throw new Fault('invalid', 'a vApp has no screen; its VMs have')
}

async function pictureOf(world: RequestWorld, vm: VmRow): Promise<Buffer> {
  const { id, host, boot } = vm
  if (!hasScreen(vm) || host === null || boot === null) return black
  try {
    return await world.screens(host).takeScreenshot(id, boot)
  } catch (error) {
    // It was switched off, or on again, since it was last seen.
    if (error instanceof Fault && ['wrong-state', 'gone'].includes(error.kind)) return black
    throw error
  }
}
