import type { VmId, VmSummary } from '@skerry/vm'

import type { Host } from './host.ts'
import type { Owner } from './record.ts'
import { listVms } from './vms.ts'

/** What became of a VM; `vm` is undefined when it is gone. */
export interface VmChange {
  readonly id: VmId
  readonly vm?: VmSummary
}

/**
 * Every VM as it is, then every change of its power, name or existence. Several changes between
 * two looks are told as one: this is state, not a log.
 */
export async function* watchVms(
  host: Host,
  signal: AbortSignal,
  owner: Owner = 'local',
): AsyncGenerator<VmChange, void> {
  let told = Promise.withResolvers<void>()
  using _ = host.changes.listen(({ kind }) => {
    if (kind === 'lifecycle' || kind === 'resync') told.resolve()
  })
  signal.addEventListener('abort', () => told.resolve(), { once: true })
  const known = new Map<VmId, VmSummary>()
  while (!signal.aborted) {
    told = Promise.withResolvers()
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
    if (!signal.aborted) await told.promise
  }
}

const same = (a: VmSummary | undefined, b: VmSummary): boolean =>
  a !== undefined && a.power === b.power && a.name === b.name && a.tag === b.tag
