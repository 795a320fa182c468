import { setTimeout as sleep } from 'node:timers/promises'

import { listVms, type Host } from '@skerry/engine'
import type { VmSummary } from '@skerry/vm'

import type { NewJournalEvent } from './journal-state.ts'
import type { Journal } from './journal.ts'

/** After a failure of libvirt, or a full disk of the journal. */
const TRY_AGAIN_MS = 5000

/**
 * Records every change of a VM, regardless of its cause. It writes the difference to the journal's state,
 * so no change is recorded twice, and none is lost if it runs again.
 */
export class VmChangeRecorder {
  readonly #journal: Journal
  readonly #look: () => Promise<readonly VmSummary[]>
  #last: Promise<void> = Promise.resolve()
  #waiting: Promise<void> | undefined

  constructor(journal: Journal, look: () => Promise<readonly VmSummary[]>) {
    this.#journal = journal
    this.#look = look
  }

  /**
   * When it returns, the state at the time of the call is recorded. One read at a time: of two
   * concurrent reads, the earlier one could record outdated changes again. Calls that arrive while
   * one waits share that one.
   */
  record(): Promise<void> {
    if (this.#waiting) return this.#waiting
    const begin = () => {
      this.#waiting = undefined
      return this.#tellDifference()
    }
    const mine = this.#last.then(begin, begin)
    this.#waiting = mine
    this.#last = mine
    return mine
  }

  async #tellDifference(): Promise<void> {
    const now = new Map((await this.#look()).map((vm) => [String(vm.id), vm]))
    const { vms } = this.#journal.known
    const gone = [...vms.keys()].filter((id) => !now.has(id))
    const news: NewJournalEvent[] = [
      ...gone.map((vm) => ({ type: 'vm.deleted' as const, vm })),
      ...[...now.values()].flatMap((vm) => newsOf(vm, vms.get(vm.id)) ?? []),
    ]
    await Promise.all(news.map((each) => this.#journal.append(each)))
  }
}

function newsOf(
  { id, name, tag, power, ending }: VmSummary,
  before: Omit<VmSummary, 'id'> | undefined,
): NewJournalEvent | undefined {
  const now = { name, tag, power }
  if (before === undefined) return { type: 'vm.created', vm: id, now }
  if (before.name !== name || before.tag !== tag) return { type: 'vm.changed', vm: id, now }
  // A paused guest whose QEMU ends does not run again.
  if (before.power === power || (ending && before.power === 'paused')) return undefined
  return { type: 'vm.power', vm: id, power }
}

/** Reads again after every libvirt event: guests stop by themselves, and others use libvirt too. */
export async function recordChanges(
  changeRecorder: VmChangeRecorder,
  host: Host,
  signal: AbortSignal,
): Promise<void> {
  let reported = Promise.withResolvers<void>()
  using _ = host.changes.listen(({ kind }) => {
    if (kind === 'lifecycle' || kind === 'resync') reported.resolve()
  })
  signal.addEventListener('abort', () => reported.resolve(), { once: true })
  while (!signal.aborted) {
    reported = Promise.withResolvers()
    try {
      await changeRecorder.record()
      if (!signal.aborted) await reported.promise
    } catch (error) {
      if (signal.aborted) return
      host.log('failed to record changes of VMs, retrying', error)
      await sleep(TRY_AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}

export const changeRecorderOf = (journal: Journal, host: Host): VmChangeRecorder =>
  new VmChangeRecorder(journal, () => listVms(host))
