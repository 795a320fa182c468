import { Type } from '@skerry/schema'
import type { Answer } from '@skerry/service'
import { powerStates, type PowerState, type Vm, type VmSummary } from '@skerry/vm'

/** The words that clients of this API compare with. */
export const powerWord: Readonly<Record<PowerState, string>> = {
  off: 'powered off',
  on: 'powered on',
  paused: 'paused',
  suspended: 'suspended',
}

export const SuccessBody = Type.Object({ code: Type.Integer(), message: Type.String() })
/** Every error response. */
export const Refusal = Type.Object({
  code: Type.Integer(),
  message: Type.String(),
  hint: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
})
export const VmBody = Type.Object({ id: Type.String(), name: Type.String(), tag: Type.String() })
export const StateWord = Type.Enum(powerStates.map((power) => powerWord[power]))
export const FullVmBody = Type.Object({
  id: Type.String(),
  name: Type.String(),
  tag: Type.String(),
  state: StateWord,
  pausedBy: Type.Optional(Type.Enum(['full disk', 'disk error'])),
  address: Type.Optional(Type.String()),
  cpus: Type.Integer(),
  memoryMiB: Type.Integer(),
  diskMiB: Type.Number(),
  autostart: Type.Boolean(),
  sharing: Type.Boolean(),
  nested: Type.Boolean(),
  bridge: Type.Optional(Type.String()),
  boot: Type.Union([Type.String(), Type.Null()]),
})
/** A VM that cannot be fully read, and why: libvirt has lost it, or its disk is damaged. */
export const BrokenVmBody = Type.Object({
  id: Type.String(),
  name: Type.String(),
  tag: Type.String(),
  state: StateWord,
  problem: Type.String(),
})
export const FolderBody = Type.Object({
  guestPath: Type.String(),
  hostPath: Type.String(),
  flags: Type.Integer(),
})

/** Success in the form that existing clients parse: a status and a word. */
export const successAnswer = (message: string): Answer => ({
  status: 200,
  body: { code: 200, message },
})

export const vmBody = ({ id, name, tag }: Vm): { id: string; name: string; tag: string } => ({
  id,
  name,
  tag,
})

export function brokenVmBody({ id, name, tag, power }: VmSummary, problem: string): object {
  return { id, name, tag, state: powerWord[power], problem }
}

/** All properties of a VM, in the words of this API. */
export function fullVmBody(vm: Vm, address: string | undefined): object {
  const { id, name, tag, power, pausedBy, cpus, memoryMiB, diskMiB } = vm
  const { autostart, sharing, nested, bridge, boot } = vm
  return {
    id,
    name,
    tag,
    state: powerWord[power],
    ...(pausedBy !== undefined && { pausedBy }),
    ...(address !== undefined && { address }),
    cpus,
    memoryMiB,
    diskMiB,
    autostart,
    sharing,
    nested,
    boot,
    ...(bridge !== undefined && { bridge }),
  }
}
