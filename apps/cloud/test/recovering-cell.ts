// A cell's followers and its part in a recovery, with heartbeats as fast as a test needs them; and hosts that have seen more than
// the database, as after a restore.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import type { Goal } from '@skerry/host-api'
import { until } from '@skerry/lab'
import { simulatedHost, type SimulatedHost } from '@skerry/lab/simulated-host'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import { followHosts } from '../src/hosts/follow-hosts.ts'
import type { HostRow } from '../src/hosts/hosts.ts'
import { recoverHosts } from '../src/hosts/recover-hosts.ts'
import { CutHost } from './away-host.ts'
import { DIGEST, isObservation } from './cloud-database.ts'

const BEAT_MS = 20

/** A fencing token of the first era with this counter. */
export const numbered = (counter: number): string => String(2n ** 40n + BigInt(counter))

export const specOf = (name = 'vm', org = '', vApp = '') => ({
  org,
  vApp,
  name,
  cpus: 1,
  memoryMiB: 64,
  diskMiB: 64,
  image: DIGEST,
})

/** Orders that are unknown to the database. */
export class LaterHost {
  readonly host: SimulatedHost
  readonly link: CutHost
  #counter: number

  constructor(first = 5000, host = simulatedHost()) {
    this.host = host
    this.link = new CutHost(host)
    this.#counter = first
  }

  async order(vm: VmId, goal: Goal, incarnation = '1'): Promise<void> {
    const fencingToken = numbered((this.#counter += 1))
    const task = `later-${this.#counter}` as TaskId
    await this.host.step({ vm, task, key: `${task}:x`, fencingToken, incarnation }, goal)
  }

  async make(vm: VmId, power: 'on' | 'off' = 'off', incarnation = '1', spec = specOf()) {
    await this.order(vm, { goal: 'defined', spec }, incarnation)
    if (power === 'on') await this.order(vm, { goal: 'power', to: 'on' }, incarnation)
  }
}

/** A cell that follows these hosts and takes part in recoveries. */
export function startRecovering(
  db: Kysely<CloudTables>,
  cell: string,
  hosts: ReadonlyMap<HostId, LaterHost>,
): AsyncDisposable {
  const stop = new AbortController()
  const { signal } = stop
  const connect = ({ id }: Pick<HostRow, 'id'>) => {
    const found = hosts.get(id)
    assert.ok(found)
    return found.link.api
  }
  const log = () => undefined
  const pause = (ms: number, until_: AbortSignal) =>
    sleep(Math.min(ms, BEAT_MS), undefined, { signal: until_ }).catch(() => undefined)
  const recovering = async () => {
    while (!signal.aborted) {
      await recoverHosts({ db, cell, log, connect }, signal).catch(() => undefined)
      await pause(BEAT_MS, signal)
    }
  }
  const loops = [followHosts({ db, cell, log, connect, pause }, signal), recovering()]
  return {
    async [Symbol.asyncDispose]() {
      stop.abort()
      await Promise.all(loops)
    },
  }
}

/** No cell follows the hosts now, as right after the start of all cells. */
export const unfollow = (db: Kysely<CloudTables>) =>
  db.updateTable('host').set({ follower: null, follow_until: null, list_session: '0' }).execute()

export const cloudOf = (db: Kysely<CloudTables>) =>
  db.selectFrom('cloud').selectAll().executeTakeFirstOrThrow()

export const untilRecovered = (db: Kysely<CloudTables>, recovery = 1) =>
  until('the cloud has recovered', async () => {
    const cloud = await cloudOf(db)
    return cloud.recovery === recovery && !cloud.recovering
  })

export async function highestNumber(db: Kysely<CloudTables>): Promise<bigint> {
  const { rows } = await sql<{ highest: string }>`select highest_fence() as highest`.execute(db)
  return BigInt(rows[0]?.highest ?? 0)
}

/** The kinds of events about each VM, and about the cloud. */
export async function toldOf(db: Kysely<CloudTables>, vm?: VmId): Promise<string[]> {
  const events = await db.selectFrom('event').selectAll().orderBy('seq').execute()
  return events
    .filter((each) => (each.vm ?? each.details['vm'] ?? undefined) === vm)
    .map(({ kind }) => kind)
    .filter((kind) => !isObservation(kind))
}
