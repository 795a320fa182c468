import { linkTo } from '@skerry/cloud-client'
import { element, type Element } from '@skerry/xml'

import type { CloudSession } from '../vms/cloud-session.ts'
import type { VmSizes } from '../vms/vm-backend.ts'

/** CIM resource types. */
const resources = { cpus: 3, memoryMiB: 4, diskMiB: 17 } as const

/** Requests other CPUs, memory or disk size; returns the task, or undefined if nothing is to change. */
export async function reconfigured(
  { cloud }: CloudSession,
  vm: Element,
  sizes: VmSizes,
): Promise<Element | undefined> {
  const items = Object.entries(resources).flatMap(([name, type]) => {
    const wanted = sizes[name as keyof VmSizes]
    return wanted === undefined ? [] : [itemOf(type, wanted)]
  })
  if (items.length === 0) return undefined
  const body = element('Vm', {}, element('VirtualHardwareSection', {}, ...items))
  return cloud.act('POST', linkTo(vm, 'reconfigureVm'), { body })
}

const itemOf = (type: number, quantity: number): Element =>
  element('Item', {}, element('ResourceType', {}, type), element('VirtualQuantity', {}, quantity))
