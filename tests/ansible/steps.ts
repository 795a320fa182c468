// The steps of the proof: each runs a line, checks what it did, and becomes a row of the table.
import assert from 'node:assert/strict'

import { recapOf, type Ansible, type Run } from './programs.ts'

/** Returns what the table shows; throws if the run is not as it should be. */
export type Check = (run: Run) => string | Promise<string>

export interface Steps {
  run(what: string, line: string, check: Check): Promise<void>
  /** Several runs of the same line at once. */
  runTogether(
    what: string,
    line: string,
    times: number,
    check: (runs: readonly Run[]) => string,
  ): Promise<void>
  print(): void
}

export function stepsWith(ansible: Ansible): Steps {
  const rows: (readonly [what: string, seconds: number, result: string])[] = []
  const add = async (
    what: string,
    runs: readonly Run[],
    result: () => string | Promise<string>,
  ): Promise<void> => {
    const seconds = Math.max(...runs.map((run) => run.seconds))
    try {
      rows.push([what, seconds, await result()])
    } catch (error) {
      throw new Error(`${what}:\n${runs.map(({ output }) => output).join('\n\n')}\n`, {
        cause: error,
      })
    }
    console.error(`${what}: ${seconds.toFixed(1)} s`)
  }
  return {
    async run(what, line, check) {
      const run = await ansible.sh(line)
      await add(what, [run], () => check(run))
    },
    async runTogether(what, line, times, check) {
      const runs = await Promise.all(Array.from({ length: times }, () => ansible.sh(line)))
      await add(what, runs, () => check(runs))
    },
    print() {
      const width = Math.max(...rows.map(([what]) => what.length))
      for (const [what, seconds, result] of rows)
        console.log(`${what.padEnd(width)}  ${seconds.toFixed(1).padStart(6)} s  ${result}`)
    },
  }
}

export const succeeds =
  (result: string): Check =>
  (run) => {
    assert.equal(run.code, 0)
    return result
  }

/** `tasks`: how many tasks of the play must change something. */
export const changes =
  (tasks: number): Check =>
  (run) => {
    assert.equal(run.code, 0)
    const { changed, failed } = recapOf(run)
    assert.deepEqual({ changed, failed }, { changed: tasks, failed: 0 })
    return `changed=${changed}`
  }

export const changesNothing = changes(0)
