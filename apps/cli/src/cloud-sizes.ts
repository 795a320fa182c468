import { linkTo } from '@skerry/cloud-client'
import { element, type Element } from '@skerry/xml'

import type { CloudSide } from './cloud-side.ts'
import type { Sizes } from './verbs.ts'

/** By CIM's numbering of resources. */
const resources = { cpus: 3, memoryMiB: 4, diskMiB: 17 } as const

/** Asks for other processors, memory or disk; undefined where nothing is wanted. */
export async function reconfigured(
  { cloud }: CloudSide,
  vm: Element,
  sizes: Sizes,
): Promise<Element | undefined> {
  const items = Object.entries(resources).flatMap(([name, type]) => {
    const wanted = sizes[name as keyof Sizes]
    return wanted === undefined ? [] : [itemOf(type, wanted)]
  })
  if (items.length === 0) return undefined
  const body = element('Vm', {}, element('VirtualHardwareSection', {}, ...items))
  return cloud.act('POST', linkTo(vm, 'reconfigureVm'), { body })
}

const itemOf = (type: number, quantity: number): Element =>
  element('Item', {}, element('ResourceType', {}, type), element('VirtualQuantity', {}, quantity))
