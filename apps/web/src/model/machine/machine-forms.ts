// What the forms of a machine send, and why they cannot be sent yet.
import { whyNotId } from '@skerry/vm/names'

import { findAction } from '../actions.ts'
import { shellQuoted, sizeOption } from '../commands.ts'
import type { MachineVm } from './machine-vm.ts'

const isWhole = (value: number): boolean => Number.isInteger(value) && value > 0

export interface NewLocalVm {
  readonly id: string
  /** undefined: there is none. */
  readonly template: string | undefined
  readonly cpus: number
  readonly memoryMiB: number
  readonly sshKeys?: readonly string[]
}

export function whyNotNewVm({ id, template, cpus, memoryMiB }: NewLocalVm): string | undefined {
  if (template === undefined) return 'there is no template yet; import one first'
  if (id === '') return 'the VM needs a name'
  const areWhole = [cpus, memoryMiB].every(isWhole)
  return whyNotId(id) ?? (areWhole ? undefined : 'CPUs and memory must be whole numbers above 0')
}

interface VmSettings {
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
  readonly autostart: boolean
}

/** Only what the user changed is sent: vmd refuses hardware of a running VM, but not its autostart. */
export const settingsChanges = (wanted: VmSettings, vm: VmSettings): Partial<VmSettings> =>
  Object.fromEntries(
    Object.entries(wanted).filter(([key, value]) => vm[key as keyof VmSettings] !== value),
  )

export function whyNotSettings(wanted: VmSettings, vm: MachineVm): string | undefined {
  const { autostart: _, ...hardware } = wanted
  if (!Object.values(hardware).every(isWhole)) return 'all values must be whole numbers above 0'
  if (wanted.diskMiB < vm.diskMiB) return 'a disk can grow, but not shrink'
  const keys = Object.keys(settingsChanges(wanted, vm))
  if (keys.length === 0) return 'nothing has changed'
  const isHardware = keys.some((key) => key !== 'autostart')
  return isHardware ? findAction(vm.actions, 'changeHardware')?.unavailable : undefined
}

const options = ({ cpus, memoryMiB, diskMiB, autostart }: VmSettings): string =>
  `--cpus ${cpus} --memory ${sizeOption(memoryMiB)} --disk ${sizeOption(diskMiB)} --autostart ${autostart ? 'yes' : 'no'}`

export const settingsCommand = (id: string, wanted: VmSettings): string =>
  `skerry set ${shellQuoted(id)} ${options(wanted)}`
