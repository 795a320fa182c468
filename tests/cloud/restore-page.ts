// A database is backed up and restored by the very lines that docs/tasks/restore.md shows, so that the page is tried too.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { sql, type Kysely } from 'kysely'

import type { Database } from '../../apps/cloud/src/store/database.ts'

const run = promisify(execFile)
const PAGE = join(import.meta.dirname, '../../docs/tasks/restore.md')
const PROGRAMS = '/usr/lib/postgresql/15/bin'

/** Where the page says DATABASE and cloud.dump. */
export interface Kept {
  readonly database: string
  readonly dump: string
}

export const backUp = (kept: Kept): Promise<void> => runLine('pg_dump', kept)
export const restore = (kept: Kept): Promise<void> => runLine('pg_restore', kept)

/** As many numbers are given out as in an hour with few requests: each beat of a cell takes one. The last of them. */
export async function anHourPasses(db: Kysely<Database>): Promise<bigint> {
  const { rows } = await sql<{ last: string }>`
    select max(number) as last from (select next_number() as number from generate_series(1, 3600)) given`.execute(
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
  const told = words.map((word) =>
    word.replace('DATABASE', () => database).replace('cloud.dump', () => dump),
  )
  await run(join(PROGRAMS, program), told)
}
