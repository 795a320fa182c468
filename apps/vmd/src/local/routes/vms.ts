import * as engine from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { type Static, Type } from '@skerry/schema'
import { json } from '@skerry/service'
import type { VmSummary } from '@skerry/vm'

import { route } from '../route.ts'
import {
  BrokenVmBody,
  brokenVmBody,
  FullVmBody,
  fullVmBody,
  powerWord,
  StateWord,
  vmBody,
  VmBody,
} from '../words.ts'

/** The bridge of this machine to join; null and empty mean the default network. */
const Bridge = Type.Union([Type.String(), Type.Null()])

/** Unknown keys are ignored: existing clients send some of their own. */
const NewVm = Type.Object({
  id: Type.String(),
  name: Type.Optional(Type.String()),
  tag: Type.Optional(Type.String()),
  parentid: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  template: Type.Optional(Type.String()),
  cpus: Type.Optional(Type.Integer()),
  memoryMiB: Type.Optional(Type.Integer()),
  diskMiB: Type.Optional(Type.Integer()),
  autostart: Type.Optional(Type.Boolean()),
  bridge: Type.Optional(Bridge),
  sshKeys: Type.Optional(Type.Array(Type.String(), { maxItems: 64 })),
  userData: Type.Optional(Type.String()),
})

/** Here an unknown key is most likely a typing error, and is rejected. */
const NewSettings = Type.Object(
  {
    name: Type.Optional(Type.String()),
    tag: Type.Optional(Type.String()),
    cpus: Type.Optional(Type.Integer()),
    memoryMiB: Type.Optional(Type.Integer()),
    diskMiB: Type.Optional(Type.Integer()),
    autostart: Type.Optional(Type.Boolean()),
    bridge: Type.Optional(Bridge),
  },
  { additionalProperties: false },
)

const Which = Type.Object({
  view: Type.Optional(Type.Enum(['full'])),
  id: Type.Optional(Type.String()),
  state: Type.Optional(StateWord),
  tag: Type.Optional(Type.String()),
})

export const vms = [
  route({
    name: 'createVm',
    method: 'POST',
    path: '/api/vms',
    permission: 'local',
    changes: ['vms'],
    operation: (_params, body) => ({ vm: (body as { readonly id: string }).id }),
    takes: json(NewVm),
    answers: { 201: VmBody },
    doc: 'Creates a VM from the default template or, with parentid, as a clone. The VM exists when this returns.',
    async handle({ host }, { body }) {
      const vm = await make(host, body)
      return { status: 201, headers: { location: `/api/vms/${vm.id}` }, body: vmBody(vm) }
    },
  }),
  route({
    name: 'listVms',
    method: 'GET',
    path: '/api/vms',
    permission: 'local',
    query: Which,
    answers: {
      200: Type.Union([
        Type.Array(Type.String()),
        Type.Array(Type.Union([FullVmBody, BrokenVmBody])),
      ]),
    },
    doc: 'The ids of all VMs, or of those with this id, state or tag; view=full returns all properties of each, or the problem if a VM is broken.',
    async handle({ host }, { query: { view, id, state, tag } }) {
      const requested = (vm: Omit<VmSummary, 'power'>) =>
        (id === undefined || vm.id === id) && (tag === undefined || vm.tag === tag)
      // libvirt is queried only if the power state matters.
      if (view === undefined && state === undefined) {
        const known = engine.listKnown(host).filter(requested)
        return { status: 200, body: known.map((vm) => vm.id) }
      }
      const all = (await engine.listVms(host)).filter(
        (vm) => requested(vm) && (state === undefined || powerWord[vm.power] === state),
      )
      if (view === undefined) return { status: 200, body: all.map((vm) => vm.id) }
      const rows = await Promise.all(all.map((vm) => describe(host, vm)))
      return { status: 200, body: rows.filter((row) => row !== undefined) }
    },
  }),
  route({
    name: 'readVm',
    method: 'GET',
    path: '/api/vms/:id',
    permission: 'local',
    answers: { 200: VmBody },
    doc: 'One VM, only while it is powered on.',
    async handle({ host }, { params }) {
      const vm = await engine.readVm(host, params.id)
      if (vm.power === 'on') return { status: 200, body: vmBody(vm) }
      const state = powerWord[vm.power]
      const message = `VM ${vm.id} is ${state}; getting a VM needs it powered on`
      const hint = `power it on, or read GET /api/vms?view=full&id=${vm.id}`
      return { status: 409, body: { code: 409, message, hint, state } }
    },
  }),
  route({
    name: 'configureVm',
    method: 'PATCH',
    path: '/api/vms/:id',
    permission: 'local',
    changes: ['vms', 'settings'],
    takes: json(NewSettings),
    answers: { 200: FullVmBody },
    doc: 'Changes the name, the tag or autostart at any time; processors, memory, disk and bridge only while it is off. A disk can only grow.',
    async handle({ host }, { params, body }) {
      const { bridge, ...rest } = body
      const settings = { ...rest, ...(bridge !== undefined && { bridge: bridge || null }) }
      const vm = await engine.configureVm(host, params.id, settings)
      return { status: 200, body: fullVmBody(vm, await engine.readLease(host, vm.id)) }
    },
  }),
  route({
    name: 'deleteVm',
    method: 'DELETE',
    path: '/api/vms/:id',
    permission: 'local',
    changes: ['vms'],
    answers: { 204: 'nothing' },
    doc: 'Deletes a VM that is powered off or suspended, with its disk. Its clones keep theirs.',
    async handle({ host }, { params }) {
      await engine.deleteVm(host, params.id, { from: ['off', 'suspended'] })
      return { status: 204 }
    },
  }),
]

function make(host: engine.Host, body: Static<typeof NewVm>) {
  const { parentid, template, sshKeys, userData, id, name, tag } = body
  const { cpus, memoryMiB, diskMiB, autostart, bridge } = body
  const seed = {
    ...(sshKeys !== undefined && { sshKeys }),
    ...(userData !== undefined && { userData }),
  }
  const requested = {
    id,
    ...(name !== undefined && { name }),
    ...(tag !== undefined && { tag }),
    ...(cpus !== undefined && { cpus }),
    ...(memoryMiB !== undefined && { memoryMiB }),
    ...(diskMiB !== undefined && { diskMiB }),
    ...(autostart !== undefined && { autostart }),
    ...(bridge !== undefined && { bridge: bridge || null }),
    ...(Object.keys(seed).length > 0 && { seed }),
  }
  // Absent, null and empty all mean a template. Default: `default`.
  if (!parentid) {
    return engine.createVm(host, { ...requested, ...(template !== undefined && { template }) })
  }
  if (template !== undefined) throw new Fault('invalid', 'give parentid or template, not both')
  return engine.cloneVm(host, { ...requested, parent: parentid })
}

/**
 * One row of the list; undefined if the VM was deleted meanwhile. A broken VM has its problem in its
 * own row and does not hide the others.
 */
async function describe(host: engine.Host, listed: VmSummary): Promise<object | undefined> {
  const { id } = listed
  try {
    const vm = await engine.readVm(host, id)
    const runs = vm.power === 'on' || vm.power === 'paused'
    return fullVmBody(vm, runs ? await engine.readLease(host, id) : undefined)
  } catch (error) {
    if (host.records.get(id)?.phase !== 'there') return undefined
    if (error instanceof Fault) {
      const { message, hint } = error
      return brokenVmBody(listed, hint === undefined ? message : `${message}; ${hint}`)
    }
    host.log(`failed to read VM ${id}`, error)
    return brokenVmBody(listed, 'it could not be read; see the log of vmd')
  }
}
