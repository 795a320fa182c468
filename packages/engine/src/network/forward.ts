import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import { findRecord } from '../domain/find-domain.ts'
import type { Host } from '../host/host.ts'
import type { Forward } from '../host/record.ts'

export const listForwards = (host: Host, id: string): readonly Forward[] =>
  findRecord(host, id).forwards ?? []

/** Every configured forward, with its VM. */
export function allForwards({ records }: Host): { readonly id: VmId; readonly forward: Forward }[] {
  return records
    .all()
    .filter(({ owner, phase }) => owner === 'local' && phase === 'there')
    .flatMap(({ id, forwards = [] }) => forwards.map((forward) => ({ id, forward })))
}

/**
 * Records a forward once `open` has bound its port. Adding the same one again is not an error; a
 * port forwards to one target only.
 */
export function addForward(
  host: Host,
  id: string,
  forward: Forward,
  open: () => Promise<void>,
): Promise<Forward> {
  const { hostPort, guestPort, hostAddress } = forward
  return host.locks.runAll([id, `port ${hostPort}`], async () => {
    const record = findRecord(host, id)
    const other = allForwards(host).find((each) => each.forward.hostPort === hostPort)
    if (other) {
      const same = other.forward.guestPort === guestPort && other.id === record.id
      if (same && other.forward.hostAddress === hostAddress) return other.forward
      throw new Fault(
        'conflict',
        `port ${hostPort} already forwards to port ${other.forward.guestPort} of VM ${other.id}`,
        { hint: 'choose another port, or remove that forward first' },
      )
    }
    await open()
    await host.records.write({ ...record, forwards: [...(record.forwards ?? []), forward] })
    return forward
  })
}

export function removeForward(host: Host, id: string, hostPort: number): Promise<void> {
  return host.locks.runAll([id, `port ${hostPort}`], async () => {
    const record = findRecord(host, id)
    const kept = (record.forwards ?? []).filter((forward) => forward.hostPort !== hostPort)
    if (kept.length === (record.forwards ?? []).length)
      throw new Fault('not-found', `VM ${id} has no forward of port ${hostPort}`)
    await host.records.write({ ...record, forwards: kept })
  })
}
