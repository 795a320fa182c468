// Goal: a server that starts while its database is unavailable starts once it is back. Method: a PostgreSQL that was killed, and is
// started again when the server first logs that it waits.
import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonWithoutRoot, startPostgres } from '@skerry/lab'

import { serverLogins } from '../src/store/acting-as.ts'
import { prepareTables, untilPrepared } from '../src/store/open-store.ts'

const skip = reasonWithoutRoot('cloud') ?? false

const loginsOf = (database: string) => serverLogins({ database, name: 'workflow-1' }, 'key')

test('the server waits for an unavailable database and logs it once', { skip }, async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'workflow-begin-'))
  await using postgres = await startPostgres(join(dir.path, 'postgres'), { durable: false })
  await postgres.psql('create database flows')
  const url = postgres.urlOf('flows')
  await postgres.kill9()
  const logged: string[] = []
  let pauses = 0
  await untilPrepared(url, loginsOf(url), {
    pause: async () => {
      pauses += 1
      if (pauses === 3) await postgres.restart()
    },
    log: (message) => logged.push(message),
    stopped: new AbortController().signal,
  })
  // On a busy machine the first connection after the restart may take too long.
  assert.ok(pauses >= 3)
  assert.equal(logged.length, 1)
  assert.match(await postgres.psql('select count(*) from execution', 'flows'), /^0/)
  await prepareTables(url)
})

test('a stop signal ends the wait', { skip }, async () => {
  const nowhere = 'postgres://postgres@127.0.0.1:1/flows'
  const stopping = new AbortController()
  const pause = async () => stopping.abort()
  const waiting = untilPrepared(nowhere, loginsOf(nowhere), {
    pause,
    log: () => undefined,
    stopped: stopping.signal,
  })
  await assert.rejects(waiting, { kind: 'unavailable' })
})
