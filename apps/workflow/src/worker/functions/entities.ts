// What is done alike to a VM and to a vApp with all its VMs.
import { element } from '@skerry/xml'
import { Type } from 'typebox'

import {
  carryOut,
  closed,
  cloudFunction,
  hrefOf,
  readVapp,
  readVm,
  reference,
  type Calling,
  type CloudFunction,
} from '../function.ts'
import { Named, Vapp, Vm } from './shapes.ts'

type Kind = 'vm' | 'vapp'
type Which = { readonly [kind in Kind]?: string }

const which = (kind: Kind) => Type.Object({ [kind]: reference(kind) }, closed)
const shapeOf = { vm: Vm, vapp: Vapp } as const
const idIn = (kind: Kind, input: unknown): string => (input as Which)[kind] ?? ''
const read = (kind: Kind, calling: Calling, id: string) =>
  kind === 'vm' ? readVm(calling, id) : readVapp(calling, id)

/** An action that needs no words: done, and what it was done to is answered. */
const action = (kind: Kind, path: string, doc: string): CloudFunction =>
  cloudFunction({
    ...{ input: which(kind), output: shapeOf[kind], doc },
    async call(calling, input) {
      const id = idIn(kind, input)
      await carryOut(calling, 'POST', `${hrefOf(kind, id)}/${path}`)
      return read(kind, calling, id)
    },
  })

const it = { vm: 'the VM', vapp: 'all VMs of the vApp' } as const

const powers = (kind: Kind) => ({
  powerOn: action(kind, 'power/action/powerOn', `Starts ${it[kind]}; what runs already is left.`),
  powerOff: action(kind, 'power/action/powerOff', `Stops ${it[kind]} at once, as by its switch.`),
  shutdown: action(
    kind,
    'power/action/shutdown',
    `Asks the guest of ${it[kind]} to shut down, and waits until it has.`,
  ),
  reboot: action(kind, 'power/action/reboot', `Asks the guest of ${it[kind]} to start anew.`),
  reset: action(kind, 'power/action/reset', `Starts ${it[kind]} anew at once, as by its button.`),
  suspend: action(
    kind,
    'power/action/suspend',
    `Writes the memory of ${it[kind]} to disk, and stops.`,
  ),
  discardSuspendedState: action(
    kind,
    'action/discardSuspendedState',
    `Throws away what ${it[kind]} had in memory when suspended.`,
  ),
})

const snapshots = (kind: Kind) => ({
  createSnapshot: cloudFunction({
    input: Type.Object(
      {
        [kind]: reference(kind),
        name: Type.Optional(Named),
        memory: Type.Optional(
          Type.Boolean({ description: 'With what it has in memory; unless told, where it runs.' }),
        ),
      },
      closed,
    ),
    output: shapeOf[kind],
    doc: `Takes the one snapshot of ${it[kind]}; one that was there is replaced.`,
    async call(calling, input) {
      const { name, memory } = input as { name?: string; memory?: boolean }
      const id = idIn(kind, input)
      const body = element('CreateSnapshotParams', { name, memory })
      await carryOut(calling, 'POST', `${hrefOf(kind, id)}/action/createSnapshot`, body)
      return read(kind, calling, id)
    },
  }),
  revertToSnapshot: action(
    kind,
    'action/revertToCurrentSnapshot',
    `Takes ${it[kind]} back to the snapshot.`,
  ),
  removeSnapshots: action(
    kind,
    'action/removeAllSnapshots',
    `Forgets the snapshot of ${it[kind]}; what there is now stays.`,
  ),
})

const Gone = Type.Object({ id: Type.String() }, closed)

const others = (kind: Kind) => ({
  get: cloudFunction({
    ...{ input: which(kind), output: shapeOf[kind] },
    doc: kind === 'vm' ? 'A VM as it is now.' : 'A vApp with its VMs as they are now.',
    call: (calling, input) => read(kind, calling, idIn(kind, input)),
  }),
  rename: cloudFunction({
    input: Type.Object({ [kind]: reference(kind), name: Named }, closed),
    output: shapeOf[kind],
    doc: `Gives the ${kind === 'vm' ? 'VM' : 'vApp'} another name.`,
    async call(calling, input) {
      const id = idIn(kind, input)
      const { name } = input as { name?: string }
      const body = element(kind === 'vm' ? 'Vm' : 'VApp', { name })
      await carryOut(calling, 'PUT', hrefOf(kind, id), body)
      return read(kind, calling, id)
    },
  }),
  delete: cloudFunction({
    ...{ input: which(kind), output: Gone },
    doc: `Deletes ${kind === 'vm' ? 'a VM' : 'a vApp with all its VMs'}, which must not run.`,
    async call(calling, input) {
      const href = hrefOf(kind, idIn(kind, input))
      await carryOut(calling, 'DELETE', href)
      return { id: href.split('/').at(-1) }
    },
  }),
})

export const ofVm = { ...others('vm'), ...powers('vm'), ...snapshots('vm') }
export const ofVapp = { ...others('vapp'), ...powers('vapp'), ...snapshots('vapp') }
