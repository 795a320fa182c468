import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'

import { findRecord } from './find-domain.ts'
import type { Host } from './host.ts'

/** A port of this host that leads to a port of the guest. Whoever opened the host opens the port. */
export interface Forward {
  readonly hostAddress: '127.0.0.1' | '::1'
  readonly hostPort: number
  readonly guestPort: number
  readonly protocol: 'tcp'
}

export const listForwards = (host: Host, id: string): readonly Forward[] =>
  findRecord(host, id).forwards ?? []

/** Every forward there should be, with its VM. */
export function allForwards({ records }: Host): { readonly id: VmId; readonly forward: Forward }[] {
  return records
    .all()
    .filter(({ owner, phase }) => owner === 'local' && phase === 'there')
    .flatMap(({ id, forwards = [] }) => forwards.map((forward) => ({ id, forward })))
}

/**
 * Writes a forward down once `open` has taken its port. The same again is no mistake; a port leads
 * to one place only.
 */
export function addForward(
  host: Host,
  id: string,
  forward: Forward,
  open: () => Promise<void>,
): Promise<Forward> {
  const { hostPort, guestPort, hostAddress } = forward
  return host.turns.takeAll([id, `port ${hostPort}`], async () => {
    const record = findRecord(host, id)
    const other = allForwards(host).find((each) => each.forward.hostPort === hostPort)
    if (other) {
      const same = other.forward.guestPort === guestPort && other.id === record.id
      if (same && other.forward.hostAddress === hostAddress) return other.forward
      throw new Fault(
        'conflict',
        `port ${hostPort} already leads to port ${other.forward.guestPort} of VM ${other.id}`,
        { hint: 'choose another port, or remove that forward first' },
      )
    }
    await open()
    await host.records.write({ ...record, forwards: [...(record.forwards ?? []), forward] })
    return forward
  })
}

export function removeForward(host: Host, id: string, hostPort: number): Promise<void> {
  return host.turns.takeAll([id, `port ${hostPort}`], async () => {
    const record = findRecord(host, id)
    const kept = (record.forwards ?? []).filter((forward) => forward.hostPort !== hostPort)
    if (kept.length === (record.forwards ?? []).length)
      throw new Fault('not-found', `VM ${id} has no forward of port ${hostPort}`)
    await host.records.write({ ...record, forwards: kept })
  })
}
