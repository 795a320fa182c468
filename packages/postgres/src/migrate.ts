// Numbered SQL files, each applied once, in order, each in its own transaction.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { type Kysely, sql, type Transaction } from 'kysely'

/** Common to all databases: the fencing tokens. Applied before the program's own files. */
const OWN = join(import.meta.dirname, '../migrations')
const NAME = /^(\d{4})-[a-z0-9-]+\.sql$/

interface Migration {
  /** The package of the file: both series count from 1. */
  readonly series: 'postgres' | 'app'
  readonly number: number
  readonly name: string
  readonly text: string
  readonly digest: string
}

/**
 * Applies the files in a directory (`0001-what-it-does.sql`, …) to a database, and returns the names of those that were
 * applied now. Several programs may call it at once: one works, the others wait and find nothing to do.
 */
export async function migrate<DB>(db: Kysely<DB>, directory: string): Promise<string[]> {
  const wanted = [...(await readSeries('postgres', OWN)), ...(await readSeries('app', directory))]
  await makeTable(db)
  const applied: string[] = []
  for (const migration of wanted) {
    if (await db.transaction().execute((tx) => apply(tx, migration))) applied.push(migration.name)
  }
  await refuseNewer(db, wanted)
  return applied
}

async function readSeries(series: Migration['series'], directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort()
  const all = names.map(async (name): Promise<Migration> => {
    const [, number] = NAME.exec(name) ?? []
    if (number === undefined) {
      throw new Fault(
        'invalid',
        `invalid migration file name ${name}: expected 0001-what-it-does.sql`,
      )
    }
    const text = await readFile(join(directory, name), 'utf8')
    const digest = createHash('sha256').update(text).digest('hex')
    return { series, number: Number(number), name, text, digest }
  })
  const read = await Promise.all(all)
  const gap = read.find((each, index) => each.number !== index + 1)
  if (gap)
    throw new Fault(
      'invalid',
      `${gap.name} is out of order: migrations are numbered 0001, 0002, 0003, … without gaps`,
    )
  return read
}

async function makeTable<DB>(db: Kysely<DB>): Promise<void> {
  try {
    await sql`create table if not exists migration (
      series text not null,
      number integer not null,
      name text not null,
      digest text not null,
      applied_at timestamptz not null default clock_timestamp(),
      primary key (series, number)
    )`.execute(db)
  } catch (error) {
    // "If not exists" does not cover concurrent calls: the system catalog rejects the second, with one of several errors.
    const { rows } = await sql<{ there: boolean }>`
      select to_regclass('migration') is not null as there`.execute(db)
    if (rows[0]?.there !== true) throw error
  }
}

async function apply<DB>(tx: Transaction<DB>, migration: Migration): Promise<boolean> {
  const { series, number, name, text, digest } = migration
  // A change to a large table may take long, and so may the one that this waits for.
  await sql`set local statement_timeout = 0`.execute(tx)
  await sql`lock table migration in exclusive mode`.execute(tx)
  const { rows } = await sql<{ digest: string }>`
    select digest from migration where series = ${series} and number = ${number}`.execute(tx)
  const [known] = rows
  if (known !== undefined) {
    if (known.digest === digest) return false
    throw new Fault(
      'conflict',
      `migration ${name} was changed after it was applied to this database`,
      {
        hint: 'restore the file, and make the change in a new one',
      },
    )
  }
  await sql.raw(text).execute(tx)
  await sql`insert into migration (series, number, name, digest)
    values (${series}, ${number}, ${name}, ${digest})`.execute(tx)
  return true
}

/** A program must not write to a database with a newer schema than it knows. */
async function refuseNewer<DB>(db: Kysely<DB>, wanted: readonly Migration[]): Promise<void> {
  const { rows } = await sql<{ series: string; number: number; name: string }>`
    select series, number, name from migration order by series, number`.execute(db)
  const unknown = rows.find(
    (row) => !wanted.some(({ series, number }) => series === row.series && number === row.number),
  )
  if (unknown === undefined) return
  throw new Fault(
    'conflict',
    `the database is newer than this program: it has the migration ${unknown.name}`,
    {
      hint: 'start the newer program, or restore the backup from before the upgrade',
    },
  )
}
