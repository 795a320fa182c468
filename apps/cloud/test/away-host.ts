// A host that can be cut off and come back, followed as a cell follows it: what is reported counts.
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import type { HostApi } from '@skerry/host-api'
import { until } from '@skerry/lab'
import type { HostId, Vm, VmId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { followHost } from '../src/hosts/follow-host.ts'
import { isOpen } from '../src/store/claim-task.ts'
import type { Database } from '../src/store/database.ts'
import { nextSession } from '../src/store/hosts.ts'

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

  mend(): void {
    this.#cut ??= new AbortController()
  }
}

export interface Followed extends AsyncDisposable {
  goAway(): Promise<void>
  comeBack(): Promise<void>
}

/** Follows the host until the test is over; it is open for work when this answers. */
export async function followed(
  db: Kysely<Database>,
  id: HostId,
  host: CutHost,
  /** What the follower itself asks with, where a test watches it. */
  asking = db,
): Promise<Followed> {
  const cell = 'test'
  const stop = new AbortController()
  const session = await nextSession(db, id, cell)
  if (session === undefined) throw new Error('the host is not of this cell')
  const pause = async () => {
    await sleep(AGAIN_MS, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  const world = { db: asking, cell, signal: stop.signal, log: () => undefined, pause }
  const over = followHost(world, id, session, host.api)
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
      host.mend()
      await opened()
    },
    async [Symbol.asyncDispose]() {
      stop.abort()
      await over
    },
  }
}

/** A VM as a host would show it. */
export const vmAt = (id: VmId, power: Vm['power'], incarnation = '1'): Vm => ({
  ...{ id, name: 'vm', tag: '', power, incarnation },
  boot: power === 'on' || power === 'paused' ? 'boot-1' : null,
  ...{ cpus: 1, memoryMiB: 64, diskMiB: 64, nested: false, autostart: false, sharing: false },
})
