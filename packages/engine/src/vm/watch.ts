import type { VmId, VmSummary } from '@skerry/vm'

import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import { listVms } from './vms.ts'

/** A change of a VM; `vm` is undefined if it was deleted. */
export interface VmChange {
  readonly id: VmId
  readonly vm?: VmSummary
}

/**
 * Emits the current state of every VM, then every change of its power state, name or existence.
 * Several changes between two reads are merged: this is state, not a log.
 */
export async function* watchVms(
  host: Host,
  signal: AbortSignal,
  owner: Owner = 'local',
): AsyncGenerator<VmChange, void> {
  let changed = Promise.withResolvers<void>()
  using _ = host.changes.listen(({ kind }) => {
    if (kind === 'lifecycle' || kind === 'resync') changed.resolve()
  })
  signal.addEventListener('abort', () => changed.resolve(), { once: true })
  const known = new Map<VmId, VmSummary>()
  while (!signal.aborted) {
    changed = Promise.withResolvers()
    const now = new Map((await listVms(host, owner)).map((vm) => [vm.id, vm]))
    for (const [id, vm] of now) {
      if (same(known.get(id), vm)) continue
      known.set(id, vm)
      yield { id, vm }
    }
    for (const id of known.keys()) {
      if (now.has(id)) continue
      known.delete(id)
      yield { id }
    }
    if (!signal.aborted) await changed.promise
  }
}

const same = (a: VmSummary | undefined, b: VmSummary): boolean =>
  a !== undefined && a.power === b.power && a.name === b.name && a.tag === b.tag
