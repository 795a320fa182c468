// A database is backed up and restored by the exact lines of docs/guides/restore.md, so that the page is tested too.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../../apps/cloud/src/database/tables.ts'

const run = promisify(execFile)
const PAGE = join(import.meta.dirname, '../../docs/guides/restore.md')
const PROGRAMS = '/usr/lib/postgresql/15/bin'

/** The values for DATABASE and cloud.dump of the page. */
export interface Kept {
  readonly database: string
  readonly dump: string
}

export const backUp = (kept: Kept): Promise<void> => runLine('pg_dump', kept)
export const restore = (kept: Kept): Promise<void> => runLine('pg_restore', kept)

/** Issues as many numbers as in an hour with few requests: each heartbeat of a cell takes one. Returns the last of them. */
export async function anHourPasses(db: Kysely<CloudTables>): Promise<bigint> {
  const { rows } = await sql<{ last: string }>`
    select max(number) as last from (select next_fence() as number from generate_series(1, 3600)) given`.execute(
    db,
  )
  return BigInt(rows[0]?.last ?? 0)
}

async function runLine(program: string, { database, dump }: Kept): Promise<void> {
  const lines = readFileSync(PAGE, 'utf8')
    .split('\n')
    .map((each) => each.trim())
  const line = lines.find((each) => each.startsWith(`${program} `))
  if (line === undefined) throw new Error(`${PAGE} does not say how to call ${program}`)
  const words = line.split(' ').slice(1)
  const filled = words.map((word) =>
    word.replace('DATABASE', () => database).replace('cloud.dump', () => dump),
  )
  await run(join(PROGRAMS, program), filled)
}
