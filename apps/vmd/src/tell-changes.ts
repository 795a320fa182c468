import { setTimeout as sleep } from 'node:timers/promises'

import { listVms, watchVms, type Host } from '@skerry/engine'
import type { VmSummary } from '@skerry/vm'

import type { Journal } from './journal.ts'

/** After libvirt was away, or the journal's disk full. */
const TRY_AGAIN_MS = 5000

/**
 * Writes down every change of a VM, whoever made it. What is told is the difference to what the
 * journal knows, so nothing is told twice, and nothing is lost by looking again.
 */
export async function tellChanges(
  journal: Journal,
  host: Host,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await tellDifference(journal, host)
      for await (const { id, vm } of watchVms(host, signal)) await tell(journal, id, vm)
    } catch (error) {
      if (signal.aborted) return
      host.note('changes of VMs are not written down for the moment', error)
      await sleep(TRY_AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** Writes down what became of the VMs while nobody watched. */
export async function tellDifference(journal: Journal, host: Host): Promise<void> {
  const now = new Map((await listVms(host)).map((vm) => [String(vm.id), vm]))
  const gone = [...journal.known.vms.keys()].filter((id) => !now.has(id))
  for (const id of gone) await tell(journal, id, undefined)
  for (const [id, vm] of now) await tell(journal, id, vm)
}

async function tell(journal: Journal, id: string, vm: VmSummary | undefined): Promise<void> {
  const before = journal.known.vms.get(id)
  if (vm === undefined) {
    if (before) await journal.append({ type: 'vm.deleted', vm: id })
    return
  }
  const { name, tag, power } = vm
  const now = { name, tag, power }
  if (before === undefined) await journal.append({ type: 'vm.created', vm: id, now })
  else if (before.name !== name || before.tag !== tag)
    await journal.append({ type: 'vm.changed', vm: id, now })
  else if (before.power !== power) await journal.append({ type: 'vm.power', vm: id, power })
}
