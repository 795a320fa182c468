// A database of a test's own.
import { randomBytes } from 'node:crypto'

import type { Postgres } from './postgres.ts'

export interface FreshDatabase extends AsyncDisposable {
  readonly name: string
  /** The superuser's way in. */
  readonly url: string
}

export type Prepare = (url: string) => Promise<void>

const prepared = new WeakMap<Postgres, Map<Prepare, Promise<string>>>()

/**
 * Makes a database that goes with the test. What `prepare` does to a database, such as migrations, is done once per server and
 * copied from then on; it must have closed its connections when it answers.
 */
export async function freshDatabase(postgres: Postgres, prepare?: Prepare): Promise<FreshDatabase> {
  const template = prepare === undefined ? 'template1' : await templateOf(postgres, prepare)
  const name = newName('test')
  await postgres.psql(`create database ${name} template ${template}`)
  return {
    name,
    url: postgres.urlOf(name),
    async [Symbol.asyncDispose]() {
      // A test may have killed the server and left it so.
      await postgres.psql(`drop database if exists ${name} with (force)`).catch(() => undefined)
    },
  }
}

async function templateOf(postgres: Postgres, prepare: Prepare): Promise<string> {
  const known = prepared.get(postgres) ?? new Map<Prepare, Promise<string>>()
  prepared.set(postgres, known)
  const found = known.get(prepare) ?? makeTemplate(postgres, prepare)
  known.set(prepare, found)
  return found
}

async function makeTemplate(postgres: Postgres, prepare: Prepare): Promise<string> {
  const name = newName('template')
  await postgres.psql(`create database ${name}`)
  await prepare(postgres.urlOf(name))
  return name
}

function newName(kind: string): string {
  return `${kind}_${randomBytes(6).toString('hex')}`
}
