// A database is backed up and restored by the very lines that docs/tasks/restore.md shows, so that the page is tried too.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

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
