import { setTimeout as sleep } from 'node:timers/promises'

import { listVms, type Host } from '@skerry/engine'
import type { VmSummary } from '@skerry/vm'

import type { Journal } from './journal.ts'
import type { News } from './known.ts'

/** After libvirt was away, or the journal's disk full. */
const TRY_AGAIN_MS = 5000

/**
 * Writes down every change of a VM, whoever made it. What is told is the difference to what the
 * journal knows, so nothing is told twice, and nothing is lost by looking again.
 */
export class Teller {
  readonly #journal: Journal
  readonly #look: () => Promise<readonly VmSummary[]>
  #last: Promise<void> = Promise.resolve()
  #waiting: Promise<void> | undefined

  constructor(journal: Journal, look: () => Promise<readonly VmSummary[]>) {
    this.#journal = journal
    this.#look = look
  }

  /**
   * When it returns, what was so when it was called is written down. One look at a time: of two,
   * the one that was earlier would otherwise tell again what has passed. Those who come while one
   * waits for its turn wait for that one.
   */
  tell(): Promise<void> {
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
    const news: News[] = [
      ...gone.map((vm) => ({ type: 'vm.deleted' as const, vm })),
      ...[...now.values()].flatMap((vm) => newsOf(vm, vms.get(vm.id)) ?? []),
    ]
    await Promise.all(news.map((each) => this.#journal.append(each)))
  }
}

function newsOf(
  { id, name, tag, power }: VmSummary,
  before: Omit<VmSummary, 'id'> | undefined,
): News | undefined {
  const now = { name, tag, power }
  if (before === undefined) return { type: 'vm.created', vm: id, now }
  if (before.name !== name || before.tag !== tag) return { type: 'vm.changed', vm: id, now }
  return before.power === power ? undefined : { type: 'vm.power', vm: id, power }
}

/** Looks again after everything that libvirt tells: guests stop by themselves, and others use libvirt too. */
export async function tellChanges(teller: Teller, host: Host, signal: AbortSignal): Promise<void> {
  let told = Promise.withResolvers<void>()
  using _ = host.changes.listen(({ kind }) => {
    if (kind === 'lifecycle' || kind === 'resync') told.resolve()
  })
  signal.addEventListener('abort', () => told.resolve(), { once: true })
  while (!signal.aborted) {
    told = Promise.withResolvers()
    try {
      await teller.tell()
      if (!signal.aborted) await told.promise
    } catch (error) {
      if (signal.aborted) return
      host.note('changes of VMs are not written down for the moment', error)
      await sleep(TRY_AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
  }
}

export const tellerOf = (journal: Journal, host: Host): Teller =>
  new Teller(journal, () => listVms(host))
