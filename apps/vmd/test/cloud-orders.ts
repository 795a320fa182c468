import type { VmSpec, Goal, HostApi } from '@skerry/host-api'
import type { Order, TaskId, VmId } from '@skerry/vm'

import type { CloudHost } from './cloud-host.ts'

export const to = (power: 'on' | 'off' | 'suspended'): Goal => ({ goal: 'power', to: power })
export const gone: Goal = { goal: 'gone' }

export const idOf = (last: number): string =>
  `7b0f0dc1-0000-4000-8000-${String(last).padStart(12, '0')}`

export const orderOf = (
  vm: string,
  step: string,
  number: number,
  more: Partial<Order> = {},
): Order => {
  const task = more.task ?? ('t' as TaskId)
  const order = { vm: vm as VmId, key: `${task}/${step}`, fencingToken: String(number) }
  return { ...order, incarnation: '1', ...more, task }
}

/** The requests of a cloud to the host of a test. */
export function ordersTo(cloud: () => CloudHost) {
  const specOf = (more: Partial<VmSpec> = {}): VmSpec => ({
    org: 'org',
    vApp: 'vapp',
    name: 'a VM',
    cpus: 1,
    memoryMiB: 64,
    diskMiB: 64,
    image: cloud().image,
    ...more,
  })
  const defined = (more: Partial<VmSpec> = {}): Goal => ({ goal: 'defined', spec: specOf(more) })
  /** A cloud VM that is off. */
  const made = async (id: string, number = 10): Promise<HostApi & Disposable> => {
    const link = cloud().connect()
    await link.step(orderOf(id, 'image', number), { goal: 'image', digest: cloud().image })
    await link.step(orderOf(id, 'define', number), defined())
    return link
  }
  return { specOf, defined, made }
}
