import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '@skerry/lab'

import { createSchedule, deleteSchedule } from '../../apps/workflow/src/runs/schedules.ts'
import { startRunsEngine, type RunsEngine } from '../../apps/workflow/test/runs-engine.ts'
import { type Victim, victims } from '../../apps/workflow/test/storm.ts'
import { definitionOf } from '../../packages/serverless-workflow/test/scenarios.ts'
import { seededRandom } from '../../tools/lab/src/system/seeded-random.ts'

/** Overlap policies that skip no turn, however long the previous one takes. */
const overlaps = ['allow', 'queue-all'] as const
const EVERY_S = 2

export interface ScheduleStormOptions {
  readonly seconds: number
  readonly kills: number
  readonly seed: number
  readonly patienceMs: number
}

export interface ScheduleFigures {
  readonly seed: number
  readonly kills: Readonly<Record<Victim, number>>
  /** For each schedule: the number of due times, each with one run. */
  readonly turns: Readonly<Record<(typeof overlaps)[number], number>>
  /** Calls that were repeated because their outcome was unknown. */
  readonly again: number
}

/**
 * Two schedules every two seconds while their backends are killed. Throws if a due time has no run or two, or if the effects are
 * not one call for each.
 */
export async function runScheduleStorm({
  seconds,
  kills,
  seed,
  patienceMs,
}: ScheduleStormOptions): Promise<ScheduleFigures> {
  const dir = await mkdtemp(join(tmpdir(), 'workflow-schedules-'))
  try {
    await using engine = await startRunsEngine(dir)
    const { temporal, queue } = engine
    const draw = seededRandom(seed)
    const killed = { worker: 0, temporal: 0, postgres: 0 }
    // A definition is a file here, and a schedule's definition has the schedule's name.
    const files = overlaps.map((overlap) => join(dir, overlap))
    for (const [at, file] of files.entries()) {
      await writeFile(file, definitionOf('turn', `- turn: { call: skerry.test.yes }`))
      const overlap = overlaps[at] ?? 'allow'
      await createSchedule(temporal, { id: file, everySeconds: EVERY_S, overlap }, queue)
    }
    const [began, end] = [Date.now(), Date.now() + seconds * 1_000]
    for (let n = 0; n < kills; n += 1) {
      const due = began + ((n + draw.between(0.2, 0.8)) * seconds * 1_000) / kills
      await sleep(Math.max(0, due - Date.now()))
      const victim = draw.pick(victims)
      killed[victim] += 1
      await engine.kill(victim)
    }
    await sleep(Math.max(0, end - Date.now()))
    const turns = { allow: 0, 'queue-all': 0 }
    let again = 0
    for (const [at, file] of files.entries()) {
      // Turns of a killed worker are created later than those after them.
      const isMade = async () => {
        const times = new Set((await turnsOf(engine, file)).map(({ time }) => time))
        return (
          [...times].some((time) => time >= end) &&
          timesIn(began, end).every((time) => times.has(time))
        )
      }
      await until('the turns up to the end should be created', isMade, patienceMs)
      const seen = await counted(engine, file)
      requireEach(await turnsOf(engine, file), { began, end, seed })
      // A late scheduler skips no turn: missed ones are caught up.
      assert.deepEqual(seen, { skipped: 0, missed: 0 }, `seed ${seed}`)
      await deleteSchedule(temporal, file)
      const made = await turnsOf(engine, file)
      turns[overlaps[at] ?? 'allow'] = new Set(made.map(({ time }) => time)).size
      again += made.length - new Set(made.map(({ key }) => key)).size
    }
    return { seed, kills: killed, turns, again }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

interface Turn {
  readonly key: string
  readonly time: number
}

/** The effects, by the time that Temporal appends to the id of each turn. */
async function turnsOf({ effects }: RunsEngine, file: string): Promise<Turn[]> {
  const name = `schedule-${file.replaceAll('/', '-')}-`
  const keys = (await readFile(effects, 'utf8')).split('\n')
  return keys
    .filter((key) => key.startsWith(name))
    .map((key) => ({ key, time: Date.parse(key.slice(name.length).split('/')[0] ?? '') }))
}

async function counted({ temporal }: RunsEngine, file: string) {
  const { info } = await temporal.client.schedule.getHandle(`schedule/${file}`).describe()
  return { skipped: info.numActionsSkippedOverlap, missed: info.numActionsMissedCatchupWindow }
}

/** Every second second between begin and end. */
function timesIn(began: number, end: number): number[] {
  const every = EVERY_S * 1_000
  const wanted: number[] = []
  for (let at = Math.ceil(began / every) * every; at <= end; at += every) wanted.push(at)
  return wanted
}

/** Each of them, once. */
function requireEach(
  turns: readonly Turn[],
  { began, end, seed }: { began: number; end: number; seed: number },
): void {
  const keys = [...new Set(turns.map(({ key }) => key))]
  const made = keys
    .map((each) => turns.find(({ key }) => key === each)?.time ?? Number.NaN)
    .filter((time) => time >= began && time <= end)
    .toSorted((a, b) => a - b)
  assert.deepEqual(made, timesIn(began, end), `seed ${seed}: each due time should have one turn`)
}
