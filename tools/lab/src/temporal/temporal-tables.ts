// Temporal's tables. Its own tool creates them in six runs with thousands of statements; the result is cached as one script.
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

import { temporalDatabases, temporalFiles } from '@skerry/site'

import { inNetworkNamed } from '../network/netns.ts'
import { POSTGRES_PROGRAMS, type Postgres } from '../postgres/postgres.ts'
import { cacheDirectory } from '../system/cache-directory.ts'
import { run } from '../system/run.ts'

/** Creates the databases of a server of this version. They must not exist. */
export async function makeTables(postgres: Postgres, netns: string | undefined): Promise<void> {
  const { home, sql } = temporalFiles(cacheDirectory())
  const kept = `${home}-tables.sql`
  if (existsSync(kept)) {
    await postgres.psql(await readFile(kept, 'utf8'))
    return
  }
  const way = ['--ep', '127.0.0.1', '-p', String(postgres.port), '-u', 'postgres']
  const tool = [sql, ...way, '--pw', 'any', '--pl', 'postgres12']
  let script = ''
  for (const [schema, name] of Object.entries(temporalDatabases)) {
    const make = (...words: string[]) =>
      run(inNetworkNamed(netns, [...tool, '--db', name, ...words]))
    await make('create')
    await make('setup-schema', '-v', '0.0')
    await make('update-schema', '--schema-name', `postgresql/v12/${schema}`)
    const dump = [`${POSTGRES_PROGRAMS}/pg_dump`, '--create', postgres.urlOf(name)]
    script += await run(inNetworkNamed(netns, dump))
  }
  await mkdir(dirname(kept), { recursive: true })
  // It appears completely or not at all.
  const unfinished = `${kept}.unfinished-${randomUUID()}`
  await writeFile(unfinished, script, { mode: 0o600 })
  await rename(unfinished, kept)
}
