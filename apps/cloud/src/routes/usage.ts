import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import { noUsage, usageWindowOf, type UsageSeries, type UsageWindow } from '@skerry/vm'

import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'
import { metrics } from '../documents/metrics.ts'
import { route } from '../http/route.ts'
import type { VmRow } from '../inventory/vms.ts'

export const usage = [
  route({
    name: 'readUsage',
    method: 'GET',
    path: at.usage,
    permission: 'vm:read',
    query: Type.Object({
      step: Type.Optional(Type.String()),
      points: Type.Optional(Type.String()),
    }),
    answers: { 200: 'metrics' },
    doc: 'What a VM used in the last hour, the oldest value first: percent of all its CPUs, MiB of memory, and bytes a second of disk and network. A value is the mean of `step` seconds (default: 15, how often hosts measure; or a multiple of it), and `until` is the time of the last of `points` values (default: an hour). A gap is null, in XML xsi:nil: before the VM was powered on, or while its host did not measure. There are no values while the VM is not running. 503 if its host does not answer.',
    async handle(context, { params: { entity }, query: { step, points } }) {
      if (entity.kind !== 'vm') {
        throw new Fault('invalid', 'VMs have metrics, vApps do not', {
          hint: 'read those of each VM in its Children',
        })
      }
      const window = usageWindowOf(step, points)
      if (typeof window === 'string') throw new Fault('invalid', window)
      return {
        status: 200,
        headers: { 'cache-control': 'no-store' },
        body: metrics(await usageOf(context, entity.vm, window)),
      }
    },
  }),
]

async function usageOf(
  context: RequestContext,
  { id, name, host, displayed_status: status }: VmRow,
  window: UsageWindow,
): Promise<UsageSeries> {
  const none = noUsage(window, context.clock.now())
  if (host === null || (status !== 'POWERED_ON' && status !== 'UNKNOWN')) return none
  // No cell hears this host: an attempt would only take long.
  if (status === 'UNKNOWN') throw silentHost(name)
  try {
    return await context.usage(host).readUsage(id, window)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    // The VM was moved or deleted since it was last observed.
    if (error.kind === 'gone') return none
    throw silentHost(name, error)
  }
}

const silentHost = (name: string, cause?: Fault): Fault =>
  new Fault('unavailable', `the host of VM ${name} does not answer`, {
    cause,
    hint: 'retry in a minute; if it still does not, ask an administrator about the host',
  })
