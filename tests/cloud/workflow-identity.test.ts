// Goal: one command creates the identity of a workflow server, and it is renewed automatically. Method: the real command, a real
// machine API on a real PostgreSQL, and the workflow server's own renewal, with a clock that the test moves.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { whoIsPeer } from '@skerry/host-api'
import type { Postgres } from '@skerry/lab'
import { isIssuedBy, splitBundle } from '@skerry/service'

import { readConfig } from '../../apps/cloud/src/config.ts'
import { makeControl, makeServer, type Issuers } from '../../apps/cloud/src/identity/issuers.ts'
import { readCloud } from '../../apps/cloud/src/identity/machines.ts'
import { keepWorkflowMachine } from '../../apps/cloud/src/identity/workflow-machines.ts'
import { openCloudDatabase, startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import { openCommands } from '../../apps/cloud/test/command-site.ts'
import { issuing, openTestMachineApi } from '../../apps/cloud/test/machine-api.ts'
import { openIdentity } from '../../apps/workflow/src/cloud/identity.ts'

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  postgres = await startDatabases()
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})

const URL_OF_IT = 'https://127.0.0.3:8281'
const DAY_MS = 86_400_000

async function makeOne(site: Awaited<ReturnType<typeof openCommands>>, ...more: string[]) {
  const out = join(site.dir, 'w1')
  await site.type([
    'workflow-server',
    'create',
    'w1',
    '--out',
    out,
    '--url',
    URL_OF_IT,
    '--database',
    'postgres://someone@db.example/workflow',
    ...more,
  ])
  return JSON.parse(await readFile(join(out, 'workflow.json'), 'utf8')) as {
    readonly identity: string
    readonly [name: string]: unknown
  }
}

test('a workflow server gets certificates and a configuration; a second run issues new ones, with the same sealing key', async () => {
  await using site = await openCommands(postgres)
  await site.init()
  const { identity, ...made } = await makeOne(site)
  assert.deepEqual(made, {
    name: 'w1',
    url: URL_OF_IT,
    listen: { address: '::', port: 8281 },
    database: 'postgres://someone@db.example/workflow',
    temporal: { address: '127.0.0.1:7233', namespace: 'skerry-workflows' },
    cells: [{ address: '127.0.0.1', port: 8444 }],
    renewFrom: [{ address: '127.0.0.1', port: 8444 }],
    egress: join(site.dir, 'w1/egress/egress.sock'),
  })
  const files = ['control.pem', 'hosts.pem', 'seal.key', 'server.pem', 'workflow.pem']
  assert.deepEqual((await readdir(identity)).toSorted(), files)
  for (const file of ['workflow.json', 'identity/workflow.pem', 'identity/seal.key']) {
    assert.equal((await stat(join(site.dir, 'w1', file))).mode & 0o077, 0, file)
  }
  const text = (file: string) => readFile(join(identity, file), 'utf8')
  const cert = async (file: string) => new X509Certificate(splitBundle(await text(file)).cert)
  const { id: cloud } = await site.db.selectFrom('cloud').select('id').executeTakeFirstOrThrow()
  const [shown, seal] = [await cert('workflow.pem'), await text('seal.key')]
  assert.deepEqual(whoIsPeer(shown), { cloud, role: 'workflow', id: 'w1', epoch: 1 })
  assert.ok(isIssuedBy(shown, await text('control.pem')))
  assert.equal((await cert('server.pem')).checkIP('127.0.0.3'), '127.0.0.3')
  assert.equal(Buffer.from(seal, 'base64').length, 32)
  const list = join(site.dir, 'w1/egress.json')
  assert.deepEqual(JSON.parse(await readFile(list, 'utf8')), { listen: made['egress'], orgs: {} })
  await writeFile(list, '{"kept": true}')
  const more = ['--listen', '127.0.0.3:8281', '--cells', '10.0.0.1:1,10.0.0.2:2']
  const again = await makeOne(site, ...more, '--namespace', 'runs')
  assert.deepEqual(again['listen'], { address: '127.0.0.3', port: 8281 })
  assert.deepEqual(again['cells'], [
    { address: '10.0.0.1', port: 1 },
    { address: '10.0.0.2', port: 2 },
  ])
  assert.equal((again['temporal'] as { namespace: string }).namespace, 'runs')
  assert.notEqual((await cert('workflow.pem')).serialNumber, shown.serialNumber)
  assert.equal(await text('seal.key'), seal)
  assert.deepEqual(JSON.parse(await readFile(list, 'utf8')), { kept: true, listen: made['egress'] })
})

test('invalid options are rejected before anything is created', async () => {
  await using site = await openCommands(postgres)
  await site.init()
  const { database } = await readConfig(site.config)
  const type = (...words: string[]) =>
    site.type(['workflow-server', 'create', '--out', join(site.dir, 'w1'), ...words])
  const whole = ['w1', '--url', URL_OF_IT, '--database', 'postgres://db.example/w']
  for (const words of [
    [],
    whole.slice(1),
    ['../w1', ...whole.slice(1)],
    [...whole, '--url', 'http://127.0.0.3:8281'],
    [...whole, '--url', 'https://127.0.0.3:8281/api'],
    [...whole, '--database', 'mysql://db'],
    [...whole, '--database', database],
    [...whole, '--cells', 'nowhere'],
  ]) {
    await assert.rejects(type(...words), { kind: 'invalid' }, words.join(' '))
  }
  await assert.rejects(stat(join(site.dir, 'w1')), { code: 'ENOENT' })
})

const ago = (days: number) => ({
  ...issuing,
  clock: { now: () => new Date(Date.now() - days * DAY_MS) },
})

test('its machine certificate is renewed each day, its server certificate in time, for its original host name', async () => {
  assert(postgres)
  await using cloud = await openCloudDatabase(postgres)
  await using api = await openTestMachineApi(cloud.db)
  await using dir = await mkdtempDisposable(join(tmpdir(), 'skerry-workflow-'))
  const { id, epoch } = await readCloud(cloud.db)
  const issuers = api.identity.issuers as Issuers
  const name = { cloud: id, role: 'workflow', id: 'w1', epoch } as const
  const at = (file: string) => join(dir.path, file)
  const certOf = async (file: string) => new X509Certificate(await readFile(at(file), 'utf8'))
  await writeFile(at('control.pem'), api.identity.trusted.control)
  await writeFile(at('hosts.pem'), api.identity.trusted.hosts)
  await writeFile(at('seal.key'), 'c2VhbA==\n')
  const logged: string[] = []
  let renewed = 0
  /** Checks once, as it does every ten minutes. */
  const lookOnce = async (): Promise<void> => {
    const stop = new AbortController()
    const kept = await openIdentity({
      config: { identity: dir.path, renewFrom: [{ address: '127.0.0.1', port: api.port }] },
      clock: { now: () => new Date() },
      pause: async () => stop.abort(),
      log: (message) => void logged.push(message),
      renewed: () => (renewed += 1),
    })
    await kept.keep(stop.signal)
    assert.equal(kept.current().sealKey, 'c2VhbA==')
  }
  await writeFile(at('workflow.pem'), await makeControl(issuers, name, ago(2)))
  await writeFile(at('server.pem'), await makeServer(issuers, ['workflow.example'], ago(31)))
  const [first, shown] = [await certOf('workflow.pem'), await certOf('server.pem')]
  await lookOnce()
  assert.match(logged.join(), /could not be renewed/, 'not issued by this cloud')
  await keepWorkflowMachine(cloud.db, { name: 'w1', host: 'workflow.example' })
  await lookOnce()
  const [second, later] = [await certOf('workflow.pem'), await certOf('server.pem')]
  assert.notEqual(second.serialNumber, first.serialNumber)
  assert.deepEqual(whoIsPeer(second), whoIsPeer(first))
  assert.notEqual(later.serialNumber, shown.serialNumber)
  assert.equal(later.subjectAltName, 'DNS:workflow.example')
  assert.equal(renewed, 1)
  await lookOnce()
  assert.equal((await certOf('workflow.pem')).serialNumber, second.serialNumber)
  assert.equal(renewed, 1)
})
