// Goal: what PostgreSQL and Temporal are told is whole, whoever starts them. Method: the settings, read as the servers read them.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { postgresWords, temporalBuild, temporalSettings, whyNotGo } from '../src/index.ts'

test('a Go that is too old, or none, is told with where a newer one is to be had', () => {
  for (const said of ['go1.26.8\n', 'go1.26', 'go1.30.1', 'go2.0'])
    assert.equal(whyNotGo(said), undefined)
  for (const said of [undefined, 'go1.25.9', 'go1.19.8\n', '']) {
    assert.match(whyNotGo(said) ?? '', /Go 1\.26 or newer from https:\/\/go\.dev\/dl/)
  }
})

test('Temporal is built at one version, with the tool that makes its tables', () => {
  const [install, ...modules] = temporalBuild.words
  assert.equal(install, 'install')
  assert.equal(modules.length, temporalBuild.programs.length)
  assert.equal(new Set(modules.map((each) => each.split('@')[1])).size, 1)
})

test('no two services of Temporal have the same port, and all are on loopback', () => {
  const place = { port: 7233, dynamic: '/d', shards: 4, postgres: { port: 5432, password: 'p"w' } }
  const { services, persistence } = JSON.parse(temporalSettings(place)) as {
    services: Record<string, { rpc: Record<string, number | boolean> }>
    persistence: { datastores: { main: { sql: { password: string } } } }
  }
  const all = Object.values(services).map(({ rpc }) => rpc)
  const ports = all.flatMap(({ grpcPort, membershipPort }) => [grpcPort, membershipPort])
  assert.deepEqual(
    ports.toSorted((a, b) => Number(a) - Number(b)),
    [7233, 7234, 7235, 7236, 7237, 7238, 7239, 7240],
  )
  assert.ok(all.every(({ bindOnLocalHost }) => bindOnLocalHost === true))
  assert.equal(persistence.datastores.main.sql.password, 'p"w')
})

test('PostgreSQL listens on loopback alone, and what is told beside its settings counts', () => {
  const words = postgresWords({ data: '/d', port: 5, more: { fsync: 'off' } })
  assert.deepEqual(words.slice(0, 2), ['-D', '/d'])
  for (const each of ['listen_addresses=127.0.0.1', 'port=5', 'fsync=off'])
    assert.ok(words.includes(each))
})
