// Goal: the command creates a network server that hosts trust, and that can read networks and nothing else. Method: the real command on a
// real PostgreSQL that requires passwords of network servers.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import { isIssuedBy } from '@skerry/service'
import { sql } from 'kysely'

import { readConfig } from '../src/config.ts'
import { startDatabases } from './cloud-database.ts'
import { openCommands } from './command-site.ts'

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  postgres = await startDatabases('nothing')
  const file = join(postgres.dir, 'pg/pg_hba.conf')
  const rules = await readFile(file, 'utf8')
  const first = 'host all postgres all trust\nhost all +skerry_network all scram-sha-256\n'
  await writeFile(file, `${first}${rules}`)
  await postgres.restart()
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})

interface Made {
  readonly name: string
  readonly listen: { readonly address: string; readonly port: number }
  readonly remote: string
  readonly database: string
  readonly data: string
  readonly tls: { readonly key: string; readonly certificate: string; readonly ca: string }
}

type Site = Awaited<ReturnType<typeof openCommands>>

async function make({ type, dir }: Site, ...more: string[]): Promise<Made> {
  const out = join(dir, 'n1')
  await type(['network-server', 'create', 'n1', '--out', out, '--json', ...more])
  return JSON.parse(await readFile(join(out, 'network.json'), 'utf8')) as Made
}

/** The number of zones, or the code of the error, with this login. */
async function read(url: string, table: string): Promise<unknown> {
  const db = openDatabase<object>({ url, applicationName: 'test', size: 1 })
  try {
    const { rows } = await sql<{
      count: number
    }>`select count(*)::integer as count from ${sql.table(table)}`.execute(db)
    return rows[0]?.count
  } catch (error) {
    return (error as { code?: string }).code ?? error
  } finally {
    await db.destroy()
  }
}

test('a network server gets a certificate of its own issuer and a login that reads networks; a second run replaces them', async () => {
  await using site = await openCommands(postgres)
  await site.init()
  const made = await make(site, '--host', '192.0.2.7')
  assert.deepEqual(
    [made.name, made.listen, made.remote, made.data],
    ['n1', { address: '192.0.2.7', port: 6642 }, 'ssl:192.0.2.7:6642', '/var/lib/skerry-network'],
  )
  for (const file of ['network.json', 'identity/network.key']) {
    assert.equal((await stat(join(site.dir, 'n1', file))).mode & 0o077, 0, file)
  }
  const { identity } = await readConfig(site.config)
  const inCell = (file: string) => readFile(join(identity, file), 'utf8')
  const cert = new X509Certificate(await readFile(made.tls.certificate, 'utf8'))
  assert.ok(isIssuedBy(cert, await inCell('network.pem')))
  assert.equal(cert.checkIP('192.0.2.7'), '192.0.2.7')
  assert.equal(await readFile(made.tls.ca, 'utf8'), await inCell('overlay.pem'))
  for (const other of ['control.pem', 'hosts.pem', 'ca.pem', 'overlay.pem']) {
    assert.equal(isIssuedBy(cert, await inCell(other)), false, other)
  }
  assert.equal(await read(made.database, 'network_zone'), 1)
  for (const table of ['account', 'event', 'session']) {
    assert.equal(await read(made.database, table), '42501', table)
  }

  const again = await make(site, '--host', '::1', '--listen', '[::]:7000', '--data', '/srv/ovn')
  assert.deepEqual(
    [again.listen, again.remote, again.data],
    [{ address: '::', port: 7000 }, 'ssl:[::1]:7000', '/srv/ovn'],
  )
  assert.equal(await read(made.database, 'network_zone'), '28P01', 'the old password is invalid')
  assert.equal(await read(again.database, 'network_zone'), 1)
  assert.equal(await readFile(again.tls.ca, 'utf8'), await inCell('overlay.pem'))
})

test('issuers of networks are created with the first network server only', async () => {
  await using site = await openCommands(postgres)
  await site.init()
  const { identity } = await readConfig(site.config)
  const files = async () => (await readdir(identity)).filter((name) => /network|overlay/.test(name))
  assert.deepEqual(await files(), [])
  await make(site, '--host', '192.0.2.7')
  assert.deepEqual((await files()).toSorted(), [
    'network.key',
    'network.pem',
    'overlay.key',
    'overlay.pem',
  ])
})

test('a name or an address that cannot be used is rejected before anything is created', async () => {
  await using site = await openCommands(postgres)
  await site.init()
  await assert.rejects(make(site, '--host', 'network.example'), /--host must be an address/)
  const line = ['network-server', 'create', 'a b', '--out', site.dir, '--host', '192.0.2.7']
  await assert.rejects(site.type(line), /the name must be like network-1/)
  await assert.rejects(
    make(site, '--host', '192.0.2.7', '--database', 'nowhere'),
    /--database must be like postgres/,
  )
})
