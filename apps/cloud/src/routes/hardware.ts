import { Fault } from '@skerry/fault'

import type { Tx } from '../database/tables.ts'
import { at } from '../dialect/addresses.ts'
import { memoryItem, networkSection, processorsItem } from '../documents/sections.ts'
import type { Principal } from '../domain/authorize.ts'
import type { WantedNic } from '../domain/plan-nics.ts'
import { Hrefs } from '../http/links.ts'
import type { Entity } from '../http/path-resources.ts'
import { route } from '../http/route.ts'
import {
  cardsOf,
  nicsOf,
  noCards,
  planNics,
  requireChangeable,
  resolveNics,
} from '../inventory/nics.ts'
import type { VmRow } from '../inventory/vms.ts'
import { connectVm, type ConnectInput } from '../operations/connect.ts'
import { reconfigure } from '../operations/reconfigure.ts'
import { connectionParams, type ConnectionsRequest } from '../params/connections.ts'
import { itemParams } from '../params/reconfigure.ts'
import { accepted } from '../responses/accepted-task.ts'
import { requireNetworks } from '../sharing/choices.ts'
import { submitTask } from '../tasks/submit-task.ts'
import { submit } from '../tasks/submit.ts'
import { submitVmOperation } from './entities.ts'

const vmOf = (entity: Entity) => {
  if (entity.kind === 'vm') return entity.vm
  throw new Fault('invalid', 'VMs have hardware, vApps do not', {
    hint: 'send it to each VM in its Children',
  })
}

const networksOf = (cards: readonly { readonly network: string }[]): readonly string[] =>
  cards.map(({ network }) => network)

/** Refuses at once what the task could not do, and finds the networks. */
async function requireConnectable(
  tx: Tx,
  principal: Principal,
  vm: VmRow,
  { nics: named, macs }: ConnectionsRequest,
): Promise<readonly WantedNic[]> {
  const before = (await nicsOf(tx, [vm.id])).get(vm.id) ?? []
  const wanted = await resolveNics(tx, { org: vm.org, id: vm.vdc }, named, before)
  requireNetworks(principal, networksOf(wanted), networksOf(before))
  for (const [index, mac] of Object.entries(macs)) {
    const card = before.find((each) => each.index === Number(index))
    const own = before.length === 0 && index === '0' ? vm.mac : card?.mac
    if (own === mac) continue
    throw new Fault('invalid', `MACAddress of card ${index} cannot be chosen`, {
      hint: 'leave it out, or send it back as it was read',
    })
  }
  // Once the operations before it are done.
  await requireChangeable(tx, { ...vm, status: vm.projected_status }, wanted, before)
  await planNics(tx, new Map([[vm.id, wanted]]))
  return wanted
}

/** Single items of a VM's hardware, for clients that can change them only one by one. */
export const hardware = [
  route({
    name: 'readProcessors',
    method: 'GET',
    path: at.processors,
    permission: 'vm:read',
    answers: { 200: 'rasdItem' },
    doc: 'The processors of a VM.',
    async handle({ base }, caller) {
      const row = vmOf(caller.params.entity)
      return { status: 200, body: processorsItem(row, new Hrefs(base).vm(row.id), caller) }
    },
  }),
  route({
    name: 'changeProcessors',
    method: 'PUT',
    path: at.processors,
    permission: 'vm:edit',
    takes: itemParams('cpus'),
    answers: { 202: 'task' },
    doc: 'Sets the number of processors to VirtualQuantity. The VM must be off.',
    handle: (context, caller) =>
      submitVmOperation(context, caller, caller.params.entity, reconfigure, caller.body),
  }),
  route({
    name: 'readMemory',
    method: 'GET',
    path: at.memory,
    permission: 'vm:read',
    answers: { 200: 'rasdItem' },
    doc: 'The memory of a VM, in MiB.',
    async handle({ base }, caller) {
      const row = vmOf(caller.params.entity)
      return { status: 200, body: memoryItem(row, new Hrefs(base).vm(row.id), caller) }
    },
  }),
  route({
    name: 'changeMemory',
    method: 'PUT',
    path: at.memory,
    permission: 'vm:edit',
    takes: itemParams('memoryMiB'),
    answers: { 202: 'task' },
    doc: 'Sets the memory to VirtualQuantity, in MiB. The VM must be off.',
    handle: (context, caller) =>
      submitVmOperation(context, caller, caller.params.entity, reconfigure, caller.body),
  }),
  route({
    name: 'readConnections',
    method: 'GET',
    path: at.connections,
    permission: 'vm:read',
    answers: { 200: 'networkConnectionSection' },
    doc: 'The network cards of a VM.',
    async handle(context, caller) {
      const row = vmOf(caller.params.entity)
      const cards = await context.as(caller.principal, (tx) => cardsOf(tx, [row]))
      const href = new Hrefs(context.base).vm(row.id)
      return { status: 200, body: networkSection(row, cards.get(row.id) ?? noCards, href, caller) }
    },
  }),
  route({
    name: 'changeConnections',
    method: 'PUT',
    path: at.connections,
    permission: 'vm:edit',
    takes: connectionParams,
    answers: { 202: 'task' },
    doc: 'Changes the networks, addresses and modes of the cards of a VM that is off. While it is on, only IsConnected may change.',
    async handle(context, caller) {
      const row = vmOf(caller.params.entity)
      const owner = caller.principal.user
      const task = await submit(context, caller, async (tx, id) => {
        const nics = await requireConnectable(tx, caller.principal, row, caller.body)
        const input: ConnectInput = { nics }
        const submitted = await submitTask(tx, connectVm, { vm: row.id, owner, id, input })
        return { task: submitted, vms: [row.id], operations: [connectVm] }
      })
      return accepted(context, caller, task)
    },
  }),
]
