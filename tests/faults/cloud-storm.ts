// Tenants who make, power and delete VMs by every way into a cloud, and somebody who kills whatever it stands on.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { startLab, until } from '@skerry/lab'
import { sql } from 'kysely'

import { chance, type Chance } from './chance.ts'
import { EventReader } from './cloud/events.ts'
import { unexplained, type Ended } from './cloud/explain.ts'
import type { Answers } from './cloud/insist.ts'
import { invariants } from './cloud/invariants.ts'
import { keep } from './cloud/keep.ts'
import { killable, Killer, type Killable } from './cloud/kills.ts'
import { runLane, type Accepted, type Lane } from './cloud/lane.ts'
import { openPlace, type Place } from './cloud/place.ts'
import { RowWatch } from './cloud/row-watch.ts'

const LANES = 4
/** reliability.md, I1: after the last fault. */
const ENDS_MS = 120_000
/** I3: sets match. */
const MATCHES_MS = 60_000
/** A dead cell's work is another's within this. */
export const TAKEN_OVER_MS = 15_000

export interface CloudStormOptions {
  readonly seed: number
  /** How many operations are accepted in all. */
  readonly operations: number
  /** SIGKILLs, spread over the operations; each kind at least once, in an order that the seed gives. */
  readonly kills: number
  readonly say?: (line: string) => void
  /** Where logs and rows are put when it fails. */
  readonly keep?: string
}

export interface CloudStormFigures {
  readonly seed: number
  readonly operations: number
  readonly ended: Readonly<Record<string, number>>
  readonly kills: Readonly<Record<string, number>>
  readonly refused: number
  readonly lost: number
  readonly later: number
  readonly takenOverMs: readonly number[]
  readonly events: number
  readonly looks: number
  readonly seconds: number
}

/** Runs it all; throws on anything that a user would call broken. */
export async function runCloudStorm(options: CloudStormOptions): Promise<CloudStormFigures> {
  const began = performance.now()
  const dir = await mkdtemp(join(tmpdir(), 'storm-'))
  try {
    await using lab = await startLab({ dir: join(dir, 'lab'), hosts: 2, cells: 2 })
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
  { seed, operations, kills, say = () => undefined }: CloudStormOptions,
): Promise<Omit<CloudStormFigures, 'seconds'>> {
  const draw = chance(seed)
  const answers: Answers = { lost: 0, later: 0, wrong: [] }
  const accepted: Accepted[] = []
  const refused: string[] = []
  const killer = new Killer(place, draw.branch())
  const deck = shuffle(kills, draw.branch())
  await using rows = new RowWatch(place.db)
  await using reader = readEvents(place, draw.branch())
  const over = new AbortController()
  const budget = new Budget(operations, kills, killer, over.signal)
  const lanes = Array.from({ length: LANES }, (_, number) =>
    runLane(laneOf(place, number, { answers, accepted, refused, draw: draw.branch(), budget })),
  )
  const killing = killAll(killer, deck, {
    due: (share) => accepted.length >= Math.floor(operations * share),
    signal: over.signal,
    say: (line) => say(`${line}; ${accepted.length} of ${operations} accepted`),
  })
  try {
    await Promise.all([killing, ...lanes])
  } catch (error) {
    over.abort()
    await Promise.allSettled([killing, ...lanes])
    throw error
  }
  await killer.allUp()
  say(`the storm is over: ${accepted.length} accepted, ${killer.kills.length} killed`)
  await untilQuiet(place)
  const ended = await readEnded(place)
  const asked = { accepted }
  await untilTrue(() => invariants(place, asked), 'the invariants', MATCHES_MS)
  const broken = [
    ...answers.wrong,
    ...rows.wrong,
    ...unexplained(ended, killer.kills, place.qemus.over),
    ...(await untold(place, reader)),
  ]
  if (broken.length > 0) throw new Error(`seed ${seed}:\n  ${broken.join('\n  ')}`)
  return {
    ...{ seed, operations: accepted.length, refused: refused.length },
    ...{ lost: answers.lost, later: answers.later },
    ended: count(ended.filter(({ parent }) => parent === null).map(({ state }) => state)),
    kills: count(killer.kills.map(({ what }) => what)),
    takenOverMs: killer.kills.flatMap(({ takenOverMs }) => takenOverMs ?? []),
    ...{ events: reader.seen.length, looks: place.qemus.looks },
  }
}

/** So many operations, spread over the kills: nobody is done before the last of them. */
class Budget {
  readonly #operations: number
  readonly #kills: number
  readonly #killer: Killer
  readonly #over: AbortSignal
  #taken = 0

  constructor(operations: number, kills: number, killer: Killer, over: AbortSignal) {
    this.#operations = operations
    this.#kills = kills
    this.#killer = killer
    this.#over = over
  }

  async take(): Promise<boolean> {
    while (this.#taken < this.#operations) {
      if (this.#killer.isLooking || this.#taken < this.#allowed()) {
        this.#taken += 1
        return true
      }
      if (this.#over.aborted) return false
      await sleep(50)
    }
    return false
  }

  giveBack(): void {
    this.#taken -= 1
  }

  #allowed(): number {
    return (this.#operations * (this.#killer.kills.length + 2)) / this.#kills
  }
}

/** What is always there to be killed. */
const servers: readonly Killable[] = ['vmd', 'libvirtd', 'postgres', 'temporal']

/** Each kind as often as any other, as far as it goes; last one that needs nobody to be at work. */
function shuffle(kills: number, draw: Chance): Killable[] {
  const deck: Killable[] = []
  while (deck.length < kills) {
    const round = [...killable]
    while (round.length > 0 && deck.length < kills) {
      deck.push(...round.splice(Math.floor(draw.between(0, round.length)), 1))
    }
  }
  const last = deck.findLastIndex((what) => servers.includes(what))
  return last < 0 ? deck : [...deck.toSpliced(last, 1), deck[last] as Killable]
}

interface Rhythm {
  /** Whether this share of the work was accepted. */
  readonly due: (share: number) => boolean
  readonly signal: AbortSignal
  readonly say: (line: string) => void
}

async function killAll(
  killer: Killer,
  deck: readonly Killable[],
  { due, signal, say }: Rhythm,
): Promise<void> {
  for (const [number, what] of deck.entries()) {
    while (!due((number + 0.5) / deck.length)) {
      await sleep(50, undefined, { signal })
    }
    const { whose, takenOverMs } = await killer.kill(what)
    const taken = takenOverMs === undefined ? '' : `, its work taken over after ${takenOverMs} ms`
    say(`kill ${number + 1} of ${deck.length}: ${what} ${whose}${taken}`)
  }
}

interface Hands {
  readonly answers: Answers
  readonly accepted: Accepted[]
  readonly refused: string[]
  readonly draw: Chance
  readonly budget: Budget
}

function laneOf(place: Place, number: number, { draw, budget, ...hands }: Hands): Lane {
  const who = number % place.clients.length
  const client = place.clients[who]
  const tenant = place.cloud.tenants[who]
  if (!client || !tenant) throw new Error('a storm needs a tenant')
  return {
    ...{ client, ways: place.ways, chance: draw, ...hands, name: `lane${number}` },
    ...{ template: tenant.template, vdc: tenant.vdc },
    take: () => budget.take(),
    giveBack: () => budget.giveBack(),
  }
}

function readEvents({ cloud, clients, ways }: Place, draw: Chance): EventReader {
  const ca = readFileSync(cloud.ca, 'utf8')
  const [client] = clients
  return new EventReader((after) =>
    request(new URL(`/api/events?after=${after}`, draw.pick(ways)), {
      ...{ ca, agent: false, headers: client?.headers ?? {} },
    }),
  )
}

/** All that were accepted have ended, and whatever the cloud itself asked for because of the kills. */
async function untilQuiet({ db }: Place): Promise<void> {
  let open = ''
  const isQuiet = async () => {
    const { rows } = await sql<{ which: string }>`
      select operation || ' ' || state || ' of VM ' || coalesce(vm::text, '-') || ' ' || coalesce(message, '') as which
      from task where state in ('queued', 'running')`.execute(db)
    open = rows.map(({ which }) => which).join('; ')
    if (rows.length > 0) await sleep(200)
    return rows.length === 0
  }
  await until('all tasks have ended', isQuiet, ENDS_MS).catch((cause: unknown) => {
    throw new Error(`still open after ${ENDS_MS / 1000} s: ${open}`, { cause })
  })
}

async function readEnded({ db }: Place): Promise<Ended[]> {
  const { rows } = await sql<Ended>`select id, parent, vm, owner, operation, state, fault, message,
      started_at, ended_at
    from task order by id`.execute(db)
  return rows
}

async function untilTrue(
  look: () => Promise<string[]>,
  what: string,
  withinMs: number,
): Promise<void> {
  let broken: string[] = []
  const holds = async () => {
    broken = await look()
    if (broken.length > 0) await sleep(1000)
    return broken.length === 0
  }
  await until(what, holds, withinMs).catch((cause: unknown) => {
    throw new Error(`${what} do not hold:\n  ${broken.join('\n  ')}`, { cause })
  })
}

/** The reader was told everything that happened to his organisation, in order, and nothing twice. */
async function untold({ db, cloud }: Place, reader: EventReader): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`select tx || '-' || seq as id from event
    join org on org.id = event.org where org.name = ${cloud.tenants[0]?.org ?? ''} order by tx, seq`.execute(
    db,
  )
  const all = rows.map(({ id }) => id)
  const same = () => reader.seen.length >= all.length
  await until('the reader hears the last event', same, 15_000).catch(() => undefined)
  if (all.join() === reader.seen.join()) return []
  const missed = all.filter((id) => !reader.seen.includes(id))
  const twice = reader.seen.filter((id, place) => reader.seen.indexOf(id) !== place)
  return [
    `events: ${all.length} happened, ${reader.seen.length} told, missed ${missed.join(' ')}, twice ${twice.join(' ')}`,
  ]
}

function count(words: readonly string[]): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const word of words) counted[word] = (counted[word] ?? 0) + 1
  return counted
}
