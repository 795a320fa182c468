// Goal: the settings of PostgreSQL and Temporal are complete. Method: the settings, parsed as the servers parse them.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  postgresWords,
  temporalBuild,
  temporalDynamicSettings,
  temporalSettings,
  whyNotGo,
} from '../src/index.ts'

test('a missing or too old Go is reported with where to get a newer one', () => {
  for (const said of ['go1.26.8\n', 'go1.26', 'go1.30.1', 'go2.0'])
    assert.equal(whyNotGo(said), undefined)
  for (const said of [undefined, 'go1.25.9', 'go1.19.8\n', '']) {
    assert.match(whyNotGo(said) ?? '', /Go 1\.26 or newer from https:\/\/go\.dev\/dl/)
  }
})

test('Temporal is built at one version, with the tool that creates its tables', () => {
  const [install, ...words] = temporalBuild.words
  assert.equal(install, 'install')
  const modules = words.filter((word) => !word.startsWith('-'))
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

test('with certificates, every port of Temporal requires one: the first of the cloud, the others its own', () => {
  const place = { port: 7233, dynamic: '/d', shards: 4, postgres: { port: 5432, password: 'p' } }
  const { global } = JSON.parse(temporalSettings({ ...place, certificates: '/c' })) as {
    global: {
      tls: Record<string, { server: { requireClientAuth: boolean; clientCaFiles: string[] } }>
    }
  }
  const takes = ['frontend', 'internode'].map((group) => global.tls[group]?.server)
  assert.ok(takes.every((server) => server?.requireClientAuth === true))
  assert.deepEqual(
    takes.map((server) => server?.clientCaFiles),
    [['/c/clients.pem'], ['/c/temporal.pem']],
  )
  assert.match(temporalDynamicSettings(true), /enableRingpopTLS/)
  assert.ok(!('tls' in (JSON.parse(temporalSettings(place)) as { global: object }).global))
})

test('PostgreSQL listens only on loopback, and additional settings take effect', () => {
  const words = postgresWords({ data: '/d', port: 5, more: { fsync: 'off' } })
  assert.deepEqual(words.slice(0, 2), ['-D', '/d'])
  for (const each of ['listen_addresses=127.0.0.1', 'port=5', 'fsync=off'])
    assert.ok(words.includes(each))
})
