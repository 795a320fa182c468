// Functions for VMs only.
import type { SeenVm } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import { element } from '@skerry/xml'

import {
  carryOut,
  closed,
  cloudFunction,
  hrefOf,
  readVm,
  reference,
  type FunctionRun,
} from './function.ts'
import { Seconds, Vm } from './shapes.ts'

/** CIM resource types. */
const kinds = { cpus: 3, memoryMB: 4, diskMB: 17 } as const

const item = (kind: number, quantity: number | undefined) =>
  quantity !== undefined &&
  element('Item', {}, element('ResourceType', {}, kind), element('VirtualQuantity', {}, quantity))

const LOOK_AGAIN_MS = 1_000
const USUAL_SECONDS = 300

/** Polls a VM until the condition is true. The host may be unreachable, but the VM must exist. */
async function untilIs(
  calling: FunctionRun,
  id: string,
  what: string,
  seconds: number,
  isSo: (vm: SeenVm, now: number) => boolean,
): Promise<SeenVm> {
  const { now, pause, signal, progress } = calling.context
  const until = now() + seconds * 1000
  for (;;) {
    signal?.throwIfAborted()
    const vm = await readVm(calling, id)
    if (isSo(vm, now())) return vm
    progress?.(0)
    if (now() >= until) {
      throw new Fault(
        'timed-out',
        `${vm.name} is ${vm.status}; it was not ${what} within ${seconds} s`,
      )
    }
    await pause(LOOK_AGAIN_MS, signal)
  }
}

const waitInput = (more: object = {}) =>
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
    doc: 'Changes the CPUs, memory and disk of a VM that is off; a disk can only grow.',
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
    doc: 'Enables or disables nested virtualization of a VM that is off.',
    async call(calling, { vm, enabled }) {
      const path = enabled ? 'action/enableNestedHypervisor' : 'action/disableNestedHypervisor'
      await carryOut(calling, 'POST', `${hrefOf('vm', vm)}/${path}`)
      return readVm(calling, vm)
    },
  }),
  waitForStatus: cloudFunction({
    input: waitInput({
      status: Type.Union([
        Type.Literal('POWERED_ON'),
        Type.Literal('POWERED_OFF'),
        Type.Literal('SUSPENDED'),
      ]),
    }),
    output: Vm,
    doc: 'Waits until a VM has this status (default: 300 seconds at most).',
    call: (calling, { vm, seconds = USUAL_SECONDS, ...input }) => {
      const { status } = input as { status?: string }
      return untilIs(calling, vm, status ?? '', seconds, (seen) => seen.status === status)
    },
  }),
  waitForAddress: cloudFunction({
    input: waitInput(),
    output: Vm,
    doc: 'Waits until the host of a VM reports its address (default: 300 seconds at most).',
    call: (calling, { vm, seconds = USUAL_SECONDS }) =>
      untilIs(calling, vm, 'reachable by an address', seconds, ({ address }) => address !== null),
  }),
  waitHealthy: cloudFunction({
    input: waitInput({ stableSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 600 })) }),
    output: Vm,
    doc: 'Waits until a VM is on, seen by its host and has an address, continuously for `stableSeconds` (default: 5).',
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
