// Tenants who create, power and delete VMs, and networks, through every address of a cloud, while its parts are killed.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'

import { startLab, until } from '@skerry/lab'
import type { OrgId } from '@skerry/vm'
import { sql, type QueryResult } from 'kysely'

import { makeCursors } from '../../apps/cloud/src/feeds/event-cursors.ts'
import { seededRandom, type SeededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import { EventReader } from './cloud/events.ts'
import { unexplained, type Ended } from './cloud/explain.ts'
import type { Answers } from './cloud/insist.ts'
import { invariants } from './cloud/invariants.ts'
import { keep } from './cloud/keep.ts'
import { Killer } from './cloud/kills.ts'
import { clearAway, runLane, type Accepted, type Lane } from './cloud/lane.ts'
import { logInAdministrator, runNetworkLane, type NetworkLane } from './cloud/network-lane.ts'
import { openPlace, type Place } from './cloud/place.ts'
import { RowWatch } from './cloud/row-watch.ts'
import type { Sky, Weather } from './cloud/weather.ts'

const LANES = 4
/** reliability.md, I1: after the last fault. */
const ENDS_MS = 120_000
/** I3: sets match. */
const MATCHES_MS = 60_000
/** The work of a dead cell is taken over within this. */
export const TAKEN_OVER_MS = 15_000

export interface CloudStormOptions {
  readonly seed: number
  readonly weather: (draw: SeededRandom, sky: Sky) => Weather
  readonly say?: (line: string) => void
  /** With networks across hosts: their parts are killed too, and one more client changes networks. Default: false. */
  readonly network?: boolean
  /** The number of concurrent clients; default: 4. */
  readonly lanes?: number
  /** The directory for logs and rows after a failure. */
  readonly keep?: string
}

export interface CloudStormFigures {
  readonly seed: number
  readonly operations: number
  readonly ended: Readonly<Record<string, number>>
  /** Tasks that ended without success, each because of a kill. */
  readonly unlucky: Readonly<Record<string, number>>
  readonly kills: Readonly<Record<string, number>>
  readonly refused: number
  readonly lost: number
  readonly later: number
  readonly takenOverMs: readonly number[]
  readonly events: number
  readonly looks: number
  readonly seconds: number
}

/** Runs it all; throws on any violated invariant. */
export async function runCloudStorm(options: CloudStormOptions): Promise<CloudStormFigures> {
  const began = performance.now()
  const { network = false } = options
  const dir = await mkdtemp(join(tmpdir(), 'storm-'))
  try {
    await using lab = await startLab({ dir: join(dir, 'lab'), hosts: 2, cells: 2, network })
    await using place = await openPlace(lab)
    options.say?.(`the cloud is up after ${Math.round((performance.now() - began) / 1000)} s`)
    const figures = await rage(place, options).catch(async (error: unknown) => {
      if (options.keep !== undefined) await keep(place, options.keep)
      throw error
    })
    return { ...figures, seconds: Math.round((performance.now() - began) / 1000) }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

async function rage(
  place: Place,
  { seed, weather: makeWeather, lanes: hands = LANES, say = () => undefined }: CloudStormOptions,
): Promise<Omit<CloudStormFigures, 'seconds'>> {
  const draw = seededRandom(seed)
  const answers: Answers = { lost: 0, later: 0, wrong: [] }
  const accepted: Accepted[] = []
  const refused: string[] = []
  const over = new AbortController()
  const killer = new Killer(place, draw.branch())
  const weather = makeWeather(draw.branch(), {
    killer,
    network: place.cloud.network !== undefined,
    accepted: () => accepted.length,
    signal: over.signal,
    say,
  })
  await using rows = new RowWatch(place.db)
  await using reader = readEvents(place, draw.branch())
  const lanes = Array.from({ length: hands }, (_, number) =>
    laneOf(place, number, { answers, accepted, refused, draw: draw.branch(), weather }),
  )
  const hand = { answers, accepted, draw: draw.branch(), weather }
  const networks = await networkLanesOf(place, hand)
  await using _ = killer.keepUp()
  const work = [weather.rage(), ...lanes.map(runLane), ...networks.map(runNetworkLane)]
  try {
    await Promise.all(work)
  } catch (error) {
    over.abort()
    await Promise.allSettled(work)
    throw error
  }
  await killer.allUp()
  const operations = accepted.length
  say(`the storm is over: ${operations} accepted, ${killer.kills.length} killed`)
  await untilQuiet(place)
  await untilTrue(() => invariants(place, { accepted }), MATCHES_MS)
  const ended = await readEnded(place)
  const broken = [
    ...answers.wrong,
    ...rows.wrong,
    ...unexplained(ended, killer.kills, place.qemus.over),
    ...(await untold(place, reader)),
  ]
  if (broken.length > 0) throw new Error(`seed ${seed}:\n  ${broken.join('\n  ')}`)
  say('all that was asked for has come to its end; now everything goes')
  for (const lane of lanes) await clearAway(lane)
  await untilTrue(async () => {
    const { rows: left } = await sql`select from vm where deleted_at is null`.execute(place.db)
    const more = left.length > 0 ? [`${left.length} VMs are left`] : []
    return [...more, ...(await invariants(place, { accepted }))]
  }, MATCHES_MS)
  const unlucky = ended.filter(({ vm, state }) => vm !== null && state !== 'success')
  return {
    seed,
    operations,
    refused: refused.length,
    lost: answers.lost,
    later: answers.later,
    ended: count(ended.filter(({ parent }) => parent === null).map(({ state }) => state)),
    unlucky: count(
      unlucky.map(({ operation, state, fault }) => [operation, state, fault].join(' ')),
    ),
    kills: count(killer.kills.map(({ what }) => what)),
    takenOverMs: killer.kills.flatMap(({ takenOverMs }) => takenOverMs ?? []),
    events: reader.seen.length,
    looks: place.qemus.looks,
  }
}

interface Hands {
  readonly answers: Answers
  readonly accepted: Accepted[]
  readonly refused: string[]
  readonly draw: SeededRandom
  readonly weather: Weather
}

function laneOf(place: Place, number: number, { draw, weather, ...hands }: Hands): Lane {
  const who = number % place.clients.length
  const client = place.clients[who]
  const tenant = place.cloud.tenants[who]
  if (!client || !tenant) throw new Error('a storm needs a tenant')
  return {
    client,
    ways: place.ways,
    chance: draw,
    ...hands,
    name: `lane${number}`,
    template: tenant.template,
    vdc: tenant.vdc,
    take: weather.take,
    giveBack: weather.giveBack,
    patienceMs: weather.patienceMs,
  }
}

async function networkLanesOf(
  place: Place,
  { answers, accepted, draw, weather }: Omit<Hands, 'refused'>,
): Promise<readonly NetworkLane[]> {
  const { cloud, db, ways } = place
  if (!cloud.network) return []
  const client = await logInAdministrator(place, readFileSync(cloud.ca, 'utf8'))
  const { take, patienceMs } = weather
  const vdc = cloud.tenants[0]?.vdc ?? ''
  return [{ client, db, ways, vdc, chance: draw, answers, accepted, take, patienceMs }]
}

function readEvents({ cloud, clients, ways }: Place, draw: SeededRandom): EventReader {
  const ca = readFileSync(cloud.ca, 'utf8')
  const [client] = clients
  return new EventReader((after) =>
    request(new URL(`/api/events?after=${after}`, draw.pick(ways)), {
      ca,
      agent: false,
      headers: client?.headers ?? {},
    }),
  )
}

/** All accepted tasks have ended, and all tasks that the cloud itself submitted because of the kills. */
async function untilQuiet({ db }: Place): Promise<void> {
  let open = ''
  const isQuiet = async () => {
    const { rows } = await untilRead(() =>
      sql<{ which: string }>`
        select operation || ' ' || state || ' of VM ' || coalesce(vm::text, '-') || ' ' || coalesce(message, '') as which
        from task where state in ('queued', 'running')`.execute(db),
    )
    open = rows.map(({ which }) => which).join('; ')
    if (rows.length > 0) await sleep(200)
    return rows.length === 0
  }
  await until('all tasks have ended', isQuiet, ENDS_MS).catch((cause: unknown) => {
    throw new Error(`still open after ${ENDS_MS / 1000} s: ${open}`, { cause })
  })
}

async function readEnded({ db }: Place): Promise<Ended[]> {
  const { rows } = await untilRead(() =>
    sql<Ended>`select id, parent, vm, owner, operation, state, fault, message, started_at, ended_at
      from task order by id`.execute(db),
  )
  return rows
}

/** One failed read says nothing about the cloud: while this machine pauses, the time to connect passes. */
async function untilRead<T>(read: () => Promise<QueryResult<T>>): Promise<QueryResult<T>> {
  let why: unknown
  const attempt = () =>
    read().catch((error: unknown) => {
      why = error
      return undefined
    })
  return until('the database is read', attempt, MATCHES_MS).catch(() => {
    throw why
  })
}

async function untilTrue(look: () => Promise<string[]>, withinMs: number): Promise<void> {
  let broken: string[] = []
  const holds = async () => {
    // What cannot be read now is read again, until the same deadline.
    broken = await look().catch((error: unknown) => [`cannot be read: ${inspect(error)}`])
    if (broken.length > 0) await sleep(1000)
    return broken.length === 0
  }
  await until('all invariants hold', holds, withinMs).catch((cause: unknown) => {
    throw new Error(`what must hold does not:\n  ${broken.join('\n  ')}`, { cause })
  })
}

/** The reader received every event of its organisation, in order, and none twice. */
async function untold({ db, cloud }: Place, reader: EventReader): Promise<string[]> {
  // The keys of the lab's cells are beside their issuers.
  const key = readFileSync(join(dirname(cloud.ca), 'seal.key'), 'utf8').trim()
  const cursors = makeCursors(() => key)
  let all: readonly string[] = []
  // Read again each time: the cloud itself may have emitted events since.
  const same = async () => {
    const { rows } = await untilRead(() =>
      sql<{ tx: string; seq: string; org: OrgId }>`select tx, seq, event.org from event
        join org on org.id = event.org where org.name = ${cloud.tenants[0]?.org ?? ''} order by tx, seq`.execute(
        db,
      ),
    )
    all = rows.map((row) => cursors(row.org).write(row))
    return reader.seen.length === all.length
  }
  await until('the reader receives the last event', same, MATCHES_MS).catch(() => undefined)
  if (all.join() === reader.seen.join()) return []
  const missed = all.filter((id) => !reader.seen.includes(id))
  const twice = reader.seen.filter((id, place) => reader.seen.indexOf(id) !== place)
  return [
    `events: ${all.length} happened, ${reader.seen.length} delivered, missed ${missed.join(' ')}, twice ${twice.join(' ')}`,
  ]
}

function count(words: readonly string[]): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const word of words) counted[word] = (counted[word] ?? 0) + 1
  return counted
}
