// A cell dies while it is at a task, and somebody else goes on with it: how long that takes.
import { setTimeout as sleep } from 'node:timers/promises'

import { until, type LabCell } from '@skerry/lab'
import { sql } from 'kysely'

import type { Chance } from '../chance.ts'
import type { Place } from './place.ts'

const FOUND_MS = 120_000
/** Longer than any bound: it is measured, and judged by whoever asked. */
const TAKEN_MS = 60_000
const LOOK_MS = 50

interface AtWork {
  readonly task: string
  readonly vm: string
  readonly number: string
}

/** A cell that is stopped in the middle of a task. */
export interface Frozen {
  readonly cell: LabCell
  readonly work: AtWork
}

export async function findAtWork(place: Place, chance: Chance): Promise<Frozen> {
  const cells = place.cloud.cells as readonly [LabCell, ...LabCell[]]
  const first = chance.pick(cells)
  return until(
    'a cell should be at work',
    () => freezeAtWork(place, [first, ...cells.filter((each) => each !== first)]),
    FOUND_MS,
  )
}

/**
 * Kills the cell, and measures until its task has a newer number or has ended. The cell stays down
 * until then: it is the other one that goes on.
 */
export async function takeOver(place: Place, { cell, work }: Frozen): Promise<number> {
  const began = performance.now()
  await cell.kill()
  await until(
    `${work.task} of VM ${work.vm} should go on without ${cell.name}`,
    async () => {
      const now = await lookAt(place, work.task).catch(() => undefined)
      if (now && (now.number !== work.number || now.state !== 'running')) return true
      await sleep(LOOK_MS)
      return false
    },
    TAKEN_MS,
  )
  return Math.round(performance.now() - began)
}

/** Stopped first: what is seen of its work then is still so when it is killed. */
async function freezeAtWork(place: Place, cells: readonly LabCell[]): Promise<Frozen | undefined> {
  const running = await atWork(place).catch(() => [])
  for (const work of running) {
    const name = await cellOf(place, work.vm).catch(() => undefined)
    const cell = cells.find((each) => each.name === name)
    const pid = cell?.pid
    if (cell === undefined || pid === undefined) continue
    process.kill(pid, 'SIGSTOP')
    const now = await lookAt(place, work.task).catch(() => undefined)
    const same = await cellOf(place, work.vm).catch(() => undefined)
    if (now?.state === 'running' && same === name) {
      return { cell, work: { ...work, number: now.number } }
    }
    process.kill(pid, 'SIGCONT')
  }
  await sleep(LOOK_MS)
  return undefined
}

async function atWork({ db }: Place): Promise<readonly AtWork[]> {
  const { rows } = await sql<AtWork>`select task.id as task, vm.id as vm, vm.number
    from task join vm on vm.id = task.vm
    where task.state = 'running' and vm.lease_until > clock_timestamp()`.execute(db)
  return rows
}

async function lookAt({ db }: Place, task: string) {
  const { rows } = await sql<{ state: string; number: string }>`select task.state, vm.number
    from task join vm on vm.id = task.vm where task.id = ${task}`.execute(db)
  return rows[0]
}

/** The cell that has this VM's queue in hand, as Temporal knows. */
async function cellOf({ temporal }: Place, vm: string): Promise<string | undefined> {
  return temporal.within(async (client) => {
    const handle = client.workflow.getHandle(`vm/${vm}`)
    const { raw } = await handle.describe()
    const long = raw.pendingActivities?.[0]?.lastWorkerIdentity
    if (long) return long
    const { events } = await handle.fetchHistory()
    const last = events?.findLast((event) => event.workflowTaskStartedEventAttributes)
    return last?.workflowTaskStartedEventAttributes?.identity ?? undefined
  })
}
