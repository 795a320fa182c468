// A separate database for a test.
import { randomBytes } from 'node:crypto'

import type { Postgres, Prepare } from './postgres.ts'

export interface FreshDatabase extends AsyncDisposable {
  readonly name: string
  /** The superuser's URL. */
  readonly url: string
}

const prepared = new WeakMap<Postgres, Map<Prepare, Promise<string>>>()

/**
 * Creates a database that is deleted with the test. The work of `prepare`, such as migrations, is done once per server and copied
 * from then on, or was done before the server started; `prepare` must have closed its connections when it returns.
 */
export async function freshDatabase(postgres: Postgres, prepare?: Prepare): Promise<FreshDatabase> {
  const template = prepare === undefined ? 'template0' : await templateOf(postgres, prepare)
  const name = newName('test')
  await postgres.psql(`create database ${name} template ${template}`)
  return {
    name,
    url: postgres.urlOf(name),
    async [Symbol.asyncDispose]() {
      // A test may have killed the server and not restarted it.
      await postgres.psql(`drop database if exists ${name} with (force)`).catch(() => undefined)
    },
  }
}

async function templateOf(postgres: Postgres, prepare: Prepare): Promise<string> {
  if (postgres.preparedBy === prepare) return 'template1'
  const known = prepared.get(postgres) ?? new Map<Prepare, Promise<string>>()
  prepared.set(postgres, known)
  const found = known.get(prepare) ?? makeTemplate(postgres, prepare)
  known.set(prepare, found)
  return found
}

async function makeTemplate(postgres: Postgres, prepare: Prepare): Promise<string> {
  const name = newName('template')
  await postgres.psql(`create database ${name} template template0`)
  await prepare(postgres.urlOf(name))
  return name
}

function newName(kind: string): string {
  return `${kind}_${randomBytes(6).toString('hex')}`
}
