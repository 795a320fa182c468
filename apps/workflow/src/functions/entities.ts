import { Type } from '@skerry/schema'
// Functions for a VM and, in the same way, for a vApp with all its VMs.
import { element } from '@skerry/xml'

import {
  carryOut,
  closed,
  cloudFunction,
  hrefOf,
  readVapp,
  readVm,
  reference,
  type FunctionRun,
  type CloudFunction,
} from './function.ts'
import { Named, Vapp, Vm } from './shapes.ts'

type Kind = 'vm' | 'vapp'
type EntityInput = { readonly [kind in Kind]?: string }

const entityInput = (kind: Kind) => Type.Object({ [kind]: reference(kind) }, closed)
const shapeOf = { vm: Vm, vapp: Vapp } as const
const idIn = (kind: Kind, input: unknown): string => (input as EntityInput)[kind] ?? ''
const readEntity = (kind: Kind, calling: FunctionRun, id: string) =>
  kind === 'vm' ? readVm(calling, id) : readVapp(calling, id)

/** An action without a body; returns the VM or vApp afterwards. */
const action = (kind: Kind, path: string, doc: string): CloudFunction =>
  cloudFunction({
    input: entityInput(kind),
    output: shapeOf[kind],
    doc,
    async call(calling, input) {
      const id = idIn(kind, input)
      await carryOut(calling, 'POST', `${hrefOf(kind, id)}/${path}`)
      return readEntity(kind, calling, id)
    },
  })

const it = { vm: 'the VM', vapp: 'all VMs of the vApp' } as const

const powers = (kind: Kind) => ({
  powerOn: action(
    kind,
    'power/action/powerOn',
    `Powers on ${it[kind]}; running VMs are not changed.`,
  ),
  powerOff: action(kind, 'power/action/powerOff', `Powers off ${it[kind]} immediately.`),
  shutdown: action(
    kind,
    'power/action/shutdown',
    `Asks the guest of ${it[kind]} to shut down, and waits until it is off.`,
  ),
  reboot: action(kind, 'power/action/reboot', `Asks the guest of ${it[kind]} to reboot.`),
  reset: action(kind, 'power/action/reset', `Resets ${it[kind]} immediately.`),
  suspend: action(
    kind,
    'power/action/suspend',
    `Writes the memory of ${it[kind]} to disk and stops it.`,
  ),
  discardSuspendedState: action(
    kind,
    'action/discardSuspendedState',
    `Discards the saved memory of ${it[kind]}.`,
  ),
})

const snapshots = (kind: Kind) => ({
  createSnapshot: cloudFunction({
    input: Type.Object(
      {
        [kind]: reference(kind),
        name: Type.Optional(Named),
        memory: Type.Optional(
          Type.Boolean({ description: 'Include the memory. Default: true for a running VM.' }),
        ),
      },
      closed,
    ),
    output: shapeOf[kind],
    doc: `Takes the one snapshot of ${it[kind]} and replaces an existing one.`,
    async call(calling, input) {
      const { name, memory } = input as { name?: string; memory?: boolean }
      const id = idIn(kind, input)
      const body = element('CreateSnapshotParams', { name, memory })
      await carryOut(calling, 'POST', `${hrefOf(kind, id)}/action/createSnapshot`, body)
      return readEntity(kind, calling, id)
    },
  }),
  revertToSnapshot: action(
    kind,
    'action/revertToCurrentSnapshot',
    `Reverts ${it[kind]} to the snapshot.`,
  ),
  removeSnapshots: action(
    kind,
    'action/removeAllSnapshots',
    `Removes the snapshot of ${it[kind]}; the current state is kept.`,
  ),
})

const Gone = Type.Object({ id: Type.String() }, closed)

const otherFunctions = (kind: Kind) => ({
  get: cloudFunction({
    input: entityInput(kind),
    output: shapeOf[kind],
    doc: kind === 'vm' ? 'Returns a VM.' : 'Returns a vApp with its VMs.',
    call: (calling, input) => readEntity(kind, calling, idIn(kind, input)),
  }),
  rename: cloudFunction({
    input: Type.Object({ [kind]: reference(kind), name: Named }, closed),
    output: shapeOf[kind],
    doc: `Renames the ${kind === 'vm' ? 'VM' : 'vApp'}.`,
    async call(calling, input) {
      const id = idIn(kind, input)
      const { name } = input as { name?: string }
      const body = element(kind === 'vm' ? 'Vm' : 'VApp', { name })
      await carryOut(calling, 'PUT', hrefOf(kind, id), body)
      return readEntity(kind, calling, id)
    },
  }),
  delete: cloudFunction({
    input: entityInput(kind),
    output: Gone,
    doc: `Deletes ${kind === 'vm' ? 'a VM' : 'a vApp with all its VMs'}, which must be powered off.`,
    async call(calling, input) {
      const href = hrefOf(kind, idIn(kind, input))
      await carryOut(calling, 'DELETE', href)
      return { id: href.split('/').at(-1) }
    },
  }),
})

export const ofVm = { ...otherFunctions('vm'), ...powers('vm'), ...snapshots('vm') }
export const ofVapp = { ...otherFunctions('vapp'), ...powers('vapp'), ...snapshots('vapp') }
