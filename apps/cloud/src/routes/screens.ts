import { Fault } from '@skerry/fault'
import { hashOf, issueTicket } from '@skerry/ticket'
import type { VmId } from '@skerry/vm'
import { element } from '@skerry/xml'

import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'
import { blackPicture } from '../documents/black-picture.ts'
import type { Principal } from '../domain/authorize.ts'
import { hasScreen } from '../domain/vm-status.ts'
import type { PathResources } from '../http/path-resources.ts'
import { route } from '../http/route.ts'
import type { VmRow } from '../inventory/vms.ts'

/** The size of QEMU's display before a guest chooses another. */
const black = blackPicture(720, 400)

const HTTPS_PORT = '443'

export const screens = [
  route({
    name: 'acquireTicket',
    method: 'POST',
    path: at.ticket,
    permission: 'vm:console',
    answers: { 200: 'screenTicket' },
    doc: 'Issues a ticket for the screen of a running VM: valid once, for 30 seconds. The response also has the expiry time and the WebSocket address of the screen.',
    async handle(context, { principal, params: { entity } }) {
      const { vm, ticket, ...more } = await issue(context, principal, vmOf(entity))
      const text = `mks://${context.console}/vm-${vm}?ticket=${ticket}`
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
    doc: 'Issues the same ticket in parts, as clients of 5.5 expect it. They connect to the host and port; the response also has the address that includes the ticket.',
    async handle(context, { principal, params: { entity } }) {
      const { vm, ticket, ...more } = await issue(context, principal, vmOf(entity))
      const { hostname, port } = new URL(`https://${context.console}`)
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
    doc: 'A screenshot of a VM as PNG; a black image if the VM has no screen.',
    async handle(context, { params: { entity } }) {
      const body = await pictureOf(context, vmOf(entity))
      return { status: 200, headers: { 'cache-control': 'no-store' }, body }
    },
  }),
]

interface IssuedTicket {
  readonly vm: VmId
  readonly ticket: string
  /** When the ticket expires. */
  readonly expires: string
  /** The WebSocket address of the screen. */
  readonly wss: string
}

async function issue(
  context: RequestContext,
  principal: Principal,
  vm: VmRow,
): Promise<IssuedTicket> {
  const { id, name, displayed_status: status, host, boot } = vm
  if (!hasScreen(vm) || host === null || boot === null) {
    throw new Fault(
      'conflict',
      `VM ${name} is ${status}; only a VM that is POWERED_ON has a screen`,
    )
  }
  const ticket = context.secret()
  const hash = hashOf(ticket)
  // The host first: a ticket for a host that does not respond is useless, and is not issued.
  await context.screens(host).arm({ vm: id, boot, ticketHash: hash.toString('hex') })
  const expires = await context.as(principal, (tx) =>
    issueTicket(tx, { hash, vm, boot, host, principal }),
  )
  const wss = `wss://${context.console}/screen/vm-${id}?ticket=${ticket}`
  return { vm: id, ticket, expires: expires.toISOString(), wss }
}

function vmOf(entity: PathResources['entity']): VmRow {
  if (entity.kind === 'vm') return entity.vm
  throw new Fault('invalid', 'VMs have a screen, vApps do not')
}

async function pictureOf(context: RequestContext, vm: VmRow): Promise<Buffer> {
  const { id, host, boot } = vm
  if (!hasScreen(vm) || host === null || boot === null) return black
  try {
    return await context.screens(host).takeScreenshot(id, boot)
  } catch (error) {
    // The VM was powered off, or restarted, since it was last observed.
    if (error instanceof Fault && ['wrong-state', 'gone'].includes(error.kind)) return black
    throw error
  }
}
