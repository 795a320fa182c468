// A host that can be disconnected and reconnected, followed as a cell follows it.
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import type { HostApi } from '@skerry/host-api'
import { until } from '@skerry/lab'
import type { HostId, Vm, VmId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import { followHost } from '../src/hosts/follow-host.ts'
import { nextSession } from '../src/hosts/hosts.ts'
import { isOpen } from '../src/tasks/claim-task.ts'

const AGAIN_MS = 5

const away = () => new Fault('unavailable', 'the host does not answer')

/** A host behind a link that a test can cut. */
export class CutHost {
  readonly api: HostApi
  #cut: AbortController | undefined = new AbortController()

  constructor(host: HostApi) {
    const reachable = (): AbortController => {
      if (!this.#cut) throw away()
      return this.#cut
    }
    const ask = async <T>(work: () => Promise<T>): Promise<T> => {
      reachable()
      return work()
    }
    this.api = {
      step: (order, goal, signal, progress) => ask(() => host.step(order, goal, signal, progress)),
      stop: (vm, key) => ask(() => host.stop(vm, key)),
      ping: (session, number) => ask(() => host.ping(session, number)),
      arm: (screen) => ask(() => host.arm(screen)),
      open: (vm, ticket, signal) => ask(() => host.open(vm, ticket, signal)),
      takeScreenshot: (vm, boot) => ask(() => host.takeScreenshot(vm, boot)),
      readUsage: (vm, window) => ask(() => host.readUsage(vm, window)),
      joinOverlay: (join) => ask(() => host.joinOverlay(join)),
      async *records(signal) {
        reachable()
        yield* host.records(signal)
      },
      async *follow(session, signal) {
        const link = reachable()
        yield* host.follow(session, AbortSignal.any([signal, link.signal]))
        if (link.signal.aborted) throw away()
      },
    }
  }

  cut(): void {
    this.#cut?.abort()
    this.#cut = undefined
  }

  fix(): void {
    this.#cut ??= new AbortController()
  }
}

export interface Followed extends AsyncDisposable {
  goAway(): Promise<void>
  comeBack(): Promise<void>
}

/** Follows the host until the test ends; the host accepts work when this resolves. */
export async function followed(
  db: Kysely<CloudTables>,
  id: HostId,
  host: CutHost,
  /** The follower's own database, if a test observes it. */
  asking = db,
): Promise<Followed> {
  const cell = 'test'
  const stop = new AbortController()
  const session = await nextSession(db, id, cell)
  if (session === undefined) throw new Error('the host is not of this cell')
  const pause = async () => {
    await sleep(AGAIN_MS, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  const context = { db: asking, cell, signal: stop.signal, log: () => undefined, pause }
  const over = followHost(context, id, session, host.api)
  const opened = () => until('the host is open', () => isOpen(db, id))
  await opened().catch(async (error: unknown) => {
    stop.abort()
    await over
    throw error
  })
  return {
    async goAway() {
      host.cut()
      await until('the host is away', async () => !(await isOpen(db, id)))
    },
    async comeBack() {
      host.fix()
      await opened()
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await over
    },
  }
}

/** A VM as a host reports it. */
export const vmAt = (id: VmId, power: Vm['power'], incarnation = '1'): Vm => ({
  id,
  name: 'vm',
  tag: '',
  power,
  incarnation,
  boot: power === 'on' || power === 'paused' ? 'boot-1' : null,
  cpus: 1,
  memoryMiB: 64,
  diskMiB: 64,
  nested: false,
  autostart: false,
  sharing: false,
})
