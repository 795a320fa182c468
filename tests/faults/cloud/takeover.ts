// A cell dies while it executes a task, and another one continues it: the time that takes.
import { setTimeout as sleep } from 'node:timers/promises'

import { until, type LabCell } from '@skerry/lab'
import { sql } from 'kysely'

import type { SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import type { Place } from './place.ts'

const FOUND_MS = 120_000
/** Longer than any bound: it is measured, and the caller decides. */
const TAKEN_MS = 60_000
const LOOK_MS = 50

interface AtWork {
  readonly task: string
  readonly vm: string
  readonly fence: string
}

/** A cell that is stopped in the middle of a task. */
export interface Frozen {
  readonly cell: LabCell
  readonly work: AtWork
}

export async function findAtWork(place: Place, chance: SeededRandom): Promise<Frozen> {
  const cells = place.cloud.cells as readonly [LabCell, ...LabCell[]]
  const first = chance.pick(cells)
  const order = [first, ...cells.filter((each) => each !== first)]
  let seen: readonly string[] = []
  try {
    return await until(
      'a cell should execute a task',
      async () => {
        const found = await freezeAtWork(place, order)
        if ('cell' in found) return found
        seen = found
        return undefined
      },
      FOUND_MS,
    )
  } catch (error) {
    throw new Error(`no cell executes a task; at last: ${seen.join('; ')}`, { cause: error })
  }
}

/**
 * Kills the cell, and measures until another one continues its task: the task has a newer fencing token or has ended, or its long step
 * is at another worker (a retried step keeps its fencing token). The cell stays down until then.
 */
export async function takeOver(place: Place, { cell, work }: Frozen): Promise<number> {
  const began = performance.now()
  await cell.kill()
  await until(
    `${work.task} of VM ${work.vm} should go on without ${cell.name}`,
    async () => {
      const now = await lookAt(place, work.task).catch(() => undefined)
      if (now && (now.fence !== work.fence || now.state !== 'running')) return true
      const worker = await workerOfStep(place, work.vm).catch(() => undefined)
      if (worker !== undefined && worker !== cell.name) return true
      await sleep(LOOK_MS)
      return false
    },
    TAKEN_MS,
  )
  return Math.round(performance.now() - began)
}

/** Stopped first: its observed work is still the same when it is killed. Returns the reasons if no cell is found. */
async function freezeAtWork(
  place: Place,
  cells: readonly LabCell[],
): Promise<Frozen | readonly string[]> {
  const reasons: string[] = []
  const note = (error: unknown) => void reasons.push(String(error))
  const running = await atWork(place).catch(note)
  if (running?.length === 0) reasons.push('no task is running')
  for (const work of running ?? []) {
    const name = await cellOf(place, work.vm).catch(note)
    const cell = cells.find((each) => each.name === name)
    const pid = cell?.pid
    if (cell === undefined || pid === undefined) {
      reasons.push(`VM ${work.vm} is at ${name}`)
      continue
    }
    process.kill(pid, 'SIGSTOP')
    const now = await lookAt(place, work.task).catch(note)
    const same = await cellOf(place, work.vm).catch(note)
    if (now?.state === 'running' && same === name) {
      return { cell, work: { ...work, fence: now.fence } }
    }
    process.kill(pid, 'SIGCONT')
    reasons.push(`VM ${work.vm}: ${now?.state}, from ${name} to ${same}`)
  }
  await sleep(LOOK_MS)
  return reasons
}

async function atWork({ db }: Place): Promise<readonly AtWork[]> {
  const { rows } = await sql<AtWork>`select task.id as task, vm.id as vm, vm.fence
    from task join vm on vm.id = task.vm
    where task.state = 'running' and vm.lease_until > clock_timestamp()`.execute(db)
  return rows
}

async function lookAt({ db }: Place, task: string) {
  const { rows } = await sql<{ state: string; fence: string }>`select task.state, vm.fence
    from task join vm on vm.id = task.vm where task.id = ${task}`.execute(db)
  return rows[0]
}

/** The worker that last started the long step which the VM's queue waits for. */
async function workerOfStep({ temporal }: Place, vm: string): Promise<string | undefined> {
  return temporal.within(async (client) => {
    const { raw } = await client.workflow.getHandle(`vm/${vm}`).describe()
    return raw.pendingActivities?.[0]?.lastWorkerIdentity || undefined
  })
}

/** The cell that runs this VM's queue, according to Temporal. */
async function cellOf(place: Place, vm: string): Promise<string | undefined> {
  const atStep = await workerOfStep(place, vm)
  if (atStep !== undefined) return atStep
  return place.temporal.within(async (client) => {
    const { events } = await client.workflow.getHandle(`vm/${vm}`).fetchHistory()
    const last = events?.findLast((event) => event.workflowTaskStartedEventAttributes)
    return last?.workflowTaskStartedEventAttributes?.identity ?? undefined
  })
}
