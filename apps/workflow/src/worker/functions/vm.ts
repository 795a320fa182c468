// What only a VM can be asked for.
import type { SeenVm } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'
import { element } from '@skerry/xml'
import { Type } from 'typebox'

import {
  carryOut,
  closed,
  cloudFunction,
  hrefOf,
  readVm,
  reference,
  type Calling,
} from '../function.ts'
import { Seconds, Vm } from './shapes.ts'

/** By CIM's numbering of resources. */
const kinds = { cpus: 3, memoryMB: 4, diskMB: 17 } as const

const item = (kind: number, quantity: number | undefined) =>
  quantity !== undefined &&
  element('Item', {}, element('ResourceType', {}, kind), element('VirtualQuantity', {}, quantity))

const LOOK_AGAIN_MS = 1_000
const USUAL_SECONDS = 300

/** Looks at a VM until it is as wanted. It may be away, and it may not be gone. */
async function untilIs(
  calling: Calling,
  id: string,
  what: string,
  seconds: number,
  isSo: (vm: SeenVm, now: number) => boolean,
): Promise<SeenVm> {
  const { now, pause, signal, progress } = calling.world
  const until = now() + seconds * 1000
  for (;;) {
    signal?.throwIfAborted()
    const vm = await readVm(calling, id)
    if (isSo(vm, now())) return vm
    progress?.(0)
    if (now() >= until) {
      throw new Fault(
        'timed-out',
        `${vm.name} is ${vm.status}, and was not ${what} within ${seconds} s`,
      )
    }
    await pause(LOOK_AGAIN_MS, signal)
  }
}

const waits = (more: object = {}) =>
  Type.Object({ vm: reference('vm'), seconds: Type.Optional(Seconds), ...more }, closed)

export const ofOneVm = {
  reconfigure: cloudFunction({
    input: Type.Object(
      {
        vm: reference('vm'),
        cpus: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
        memoryMB: Type.Optional(Type.Integer({ minimum: 64 })),
        diskMB: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      closed,
    ),
    output: Vm,
    doc: 'Changes processors, memory and disk of a VM that is off; a disk only grows.',
    async call(calling, { vm, cpus, memoryMB, diskMB }) {
      const hardware = element(
        'VirtualHardwareSection',
        {},
        item(kinds.cpus, cpus),
        item(kinds.memoryMB, memoryMB),
        item(kinds.diskMB, diskMB),
      )
      const body = element('Vm', {}, hardware)
      await carryOut(calling, 'POST', `${hrefOf('vm', vm)}/action/reconfigureVm`, body)
      return readVm(calling, vm)
    },
  }),
  setNested: cloudFunction({
    input: Type.Object({ vm: reference('vm'), enabled: Type.Boolean() }, closed),
    output: Vm,
    doc: 'Whether the guest of a VM that is off may run guests of its own.',
    async call(calling, { vm, enabled }) {
      const word = enabled ? 'enable' : 'disable'
      await carryOut(calling, 'POST', `${hrefOf('vm', vm)}/action/${word}NestedHypervisor`)
      return readVm(calling, vm)
    },
  }),
  waitForStatus: cloudFunction({
    input: waits({
      status: Type.Union([
        Type.Literal('POWERED_ON'),
        Type.Literal('POWERED_OFF'),
        Type.Literal('SUSPENDED'),
      ]),
    }),
    output: Vm,
    doc: 'Waits until a VM is seen to be in this status, for 300 seconds unless told otherwise.',
    call: (calling, { vm, seconds = USUAL_SECONDS, ...input }) => {
      const { status } = input as { status?: string }
      return untilIs(calling, vm, status ?? '', seconds, (seen) => seen.status === status)
    },
  }),
  waitForAddress: cloudFunction({
    input: waits(),
    output: Vm,
    doc: 'Waits until the host of a VM has told its address, for 300 seconds unless told otherwise.',
    call: (calling, { vm, seconds = USUAL_SECONDS }) =>
      untilIs(calling, vm, 'reachable by an address', seconds, ({ address }) => address !== null),
  }),
  waitHealthy: cloudFunction({
    input: waits({ stableSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 600 })) }),
    output: Vm,
    doc: 'Waits until a VM is on, its host sees it and has told its address, and all that for `stableSeconds` (5 unless told) on end.',
    call: (calling, { vm, seconds = USUAL_SECONDS, ...input }) => {
      const { stableSeconds = 5 } = input as { stableSeconds?: number }
      let since: number | undefined
      return untilIs(calling, vm, 'healthy', seconds, ({ status, address }, now) => {
        const isWell = status === 'POWERED_ON' && address !== null
        since = isWell ? (since ?? now) : undefined
        return since !== undefined && now - since >= stableSeconds * 1000
      })
    },
  }),
}
