// Goal: a server that starts while its database is away begins when that is back. Method: a PostgreSQL that was killed, and is
// started again when the server first says that it waits.
import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonWithoutRoot, startPostgres } from '@skerry/lab'

import { prepareTables, untilPrepared } from '../src/engines.ts'

const skip = reasonWithoutRoot('cloud') ?? false

test('a database that is away is waited for, and told of once', { skip }, async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'workflow-begin-'))
  await using postgres = await startPostgres(join(dir.path, 'postgres'), { durable: false })
  await postgres.psql('create database flows')
  const url = postgres.urlOf('flows')
  await postgres.kill9()
  const told: string[] = []
  let pauses = 0
  await untilPrepared(url, {
    pause: async () => {
      pauses += 1
      if (pauses === 3) await postgres.restart()
    },
    log: (message) => told.push(message),
    stopped: new AbortController().signal,
  })
  assert.equal(pauses, 3)
  assert.equal(told.length, 1)
  assert.match(await postgres.psql('select count(*) from execution', 'flows'), /^0/)
  await prepareTables(url)
})

test('whoever is told to stop does not wait on', { skip }, async () => {
  const nowhere = 'postgres://postgres@127.0.0.1:1/flows'
  const stopping = new AbortController()
  const pause = async () => stopping.abort()
  const waiting = untilPrepared(nowhere, { pause, log: () => undefined, stopped: stopping.signal })
  await assert.rejects(waiting, { kind: 'unavailable' })
})
