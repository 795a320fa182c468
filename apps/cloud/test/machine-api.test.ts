// Goal: machines are admitted by invitation and certificate, each only in its own role, and not after they
// were revoked. Method: a real PostgreSQL, real TLS, certificates of our own issuers and of others.
import assert from 'node:assert/strict'
import { createHash, randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import { MachineLink, readText, whoIsPeer, type MachineIdentity } from '@skerry/host-api'
import type { Postgres } from '@skerry/lab'
import { isIssuedBy, makeKey, makeRequest, publicKeyOf } from '@skerry/service'
import { sql } from 'kysely'

import { revokeHost } from '../src/hosts/host-states.ts'
import { keepConsoleMachine } from '../src/identity/console-machines.ts'
import { addInvitation } from '../src/identity/invitations.ts'
import { issueControl, issueHost, type Issuers } from '../src/identity/issuers.ts'
import { raiseEpoch } from '../src/identity/machines.ts'
import { DIGEST, openCloudDatabase, startDatabases, type CloudDatabase } from './cloud-database.ts'
import { issuing, openTestMachineApi, type TestMachineApi } from './machine-api.ts'

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  postgres = await startDatabases()
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})

async function openAll(options?: Parameters<typeof openTestMachineApi>[1]) {
  assert(postgres)
  await using stack = new AsyncDisposableStack()
  const cloud: CloudDatabase = stack.use(await openCloudDatabase(postgres))
  const api = stack.use(await openTestMachineApi(cloud.db, options))
  const moved = stack.move()
  return { cloud, api, db: cloud.db, [Symbol.asyncDispose]: () => moved.disposeAsync() }
}

type Said = { readonly status: number; readonly body: Record<string, string> }

async function post(
  api: TestMachineApi,
  path: string,
  body: unknown,
  as?: MachineIdentity,
): Promise<Said> {
  const shown = as ?? (await machine(api, 'console', 'anybody'))
  using link = new MachineLink({ address: '127.0.0.1', port: api.port }, shown, { role: 'cell' })
  const answer = await link.ask({ method: 'POST', path, body })
  return {
    status: answer.statusCode ?? 0,
    body: JSON.parse(await readText(answer)) as Said['body'],
  }
}

/** A machine with a certificate of this cloud's issuers, or of another cloud's. */
async function machine(
  api: TestMachineApi,
  role: 'host' | 'cell' | 'console',
  id: string,
  {
    issuers = api.identity.issuers,
    epoch = 1,
    signedBy = role === 'host' ? 'hosts' : 'control',
  } = {},
): Promise<MachineIdentity> {
  assert(issuers)
  const key = await makeKey()
  const name = { cloud: api.identity.name.cloud, id }
  const using: Issuers = {
    ...issuers,
    control: issuers[signedBy as 'control'],
    hosts: issuers[signedBy as 'hosts'],
  }
  const cert =
    role === 'host'
      ? await issueHost(using, name, publicKeyOf(key), issuing)
      : await issueControl(using, { ...name, role, epoch }, publicKeyOf(key), issuing)
  return { key, cert, ca: api.identity.trusted.control }
}

const asking = async (token: string, key: string, more: object = {}) => ({
  token,
  csr: await makeRequest(key),
  name: 'h',
  address: '127.0.0.1',
  port: 8443,
  ...more,
})
const newToken = () => randomBytes(32).toString('base64url')

test('an invitation is bound to the first key that uses it: repeated requests return the same host', async () => {
  await using all = await openAll()
  const { api, db } = all
  const token = newToken()
  await addInvitation(db, token, undefined)
  const kept = await db.selectFrom('invitation').selectAll().executeTakeFirstOrThrow()
  assert.deepEqual(kept.token_hash, createHash('sha256').update(token).digest())
  const key = await makeKey()
  const first = await post(api, '/machine/v1/join', await asking(token, key))
  assert.equal(first.status, 200, JSON.stringify(first.body))
  const peer = whoIsPeer(new X509Certificate(first.body['certificate'] ?? ''))
  assert.deepEqual(peer, {
    cloud: api.identity.name.cloud,
    role: 'host',
    id: first.body['host'],
    epoch: 0,
  })
  const again = await post(api, '/machine/v1/join', await asking(token, key))
  assert.equal(again.body['host'], first.body['host'])
  const other = await post(api, '/machine/v1/join', await asking(token, await makeKey()))
  assert.deepEqual([other.status, other.body['error']], [403, 'forbidden'])
  assert.match(other.body['message'] ?? '', /another machine/)
  const rows = await db
    .selectFrom('host')
    .select(['id', 'enabled', 'port'])
    .where('name', '=', 'h')
    .execute()
  assert.deepEqual(rows, [{ id: first.body['host'], enabled: false, port: 8443 }])
})

test('an unknown or expired invitation, or one for a revoked host, is rejected', async () => {
  await using all = await openAll()
  const { api, db, cloud } = all
  const key = await makeKey()
  assert.equal((await post(api, '/machine/v1/join', await asking(newToken(), key))).status, 403)
  const old = newToken()
  await addInvitation(db, old, undefined)
  await sql`update invitation set expires_at = clock_timestamp() - interval '1 s'`.execute(db)
  const expired = await post(api, '/machine/v1/join', await asking(old, key))
  assert.match(expired.body['message'] ?? '', /expired/)
  const back = newToken()
  await addInvitation(db, back, cloud.host)
  const wrong = await post(api, '/machine/v1/join', await asking(back, key, { host: 'another' }))
  assert.equal(wrong.status, 403)
  const renewed = await post(api, '/machine/v1/join', await asking(back, key, { host: cloud.host }))
  assert.equal(renewed.body['host'], cloud.host)
  await revokeHost(db, cloud.host)
  assert.equal((await post(api, '/machine/v1/join', await asking(back, key))).status, 403)
  await assert.rejects(addInvitation(db, newToken(), cloud.host), { kind: 'forbidden' })
  for (const body of [{}, null, { token: 1 }, await asking(back, key, { role: 'cell' })]) {
    assert.equal((await post(api, '/machine/v1/join', body)).status, 400)
  }
})

test('a certificate is renewed for a new key with the old name, for every role', async () => {
  await using all = await openAll()
  const { api, db, cloud } = all
  const key = await makeKey()
  const body = { csr: await makeRequest(key) }
  const host = await post(api, '/machine/v1/renew', body, await machine(api, 'host', cloud.host))
  assert.equal(whoIsPeer(new X509Certificate(host.body['certificate'] ?? '')).id, cloud.host)
  const row = await db
    .selectFrom('host')
    .select('public_key')
    .where('id', '=', cloud.host)
    .executeTakeFirst()
  assert.equal(row?.public_key, publicKeyOf(key))
  const cell = await post(api, '/machine/v1/renew', body, await machine(api, 'cell', 'c2'))
  const { role, id, epoch } = whoIsPeer(new X509Certificate(cell.body['certificate'] ?? ''))
  assert.deepEqual([role, id, epoch], ['cell', 'c2', 1])
})

test('a console gets a site certificate only for the host name that it was created for', async () => {
  await using all = await openAll()
  const { api, db } = all
  const host = 'console.example'
  await keepConsoleMachine(db, { name: 'k1', host, login: 'login' })
  const key = await makeKey()
  const requested = { csr: await makeRequest(await makeKey()), site: await makeRequest(key) }
  const renew = async (role: 'cell' | 'console', id: string, more: object = {}) =>
    post(api, '/machine/v1/renew', { ...requested, ...more }, await machine(api, role, id))
  // Regardless of the name in its request.
  const { status, body } = await renew('console', 'k1', { host: 'cloud.example', hosts: ['*'] })
  assert.equal(status, 200)
  const shown = new X509Certificate(body['site'] ?? '')
  assert.ok(isIssuedBy(shown, api.identity.trusted.site))
  assert.equal(shown.subjectAltName, `DNS:${host}`)
  assert.equal(shown.publicKey.export({ type: 'spki', format: 'pem' }), publicKeyOf(key))
  assert.equal(whoIsPeer(new X509Certificate(body['certificate'] ?? '')).id, 'k1')
  assert.equal((await renew('console', 'k2')).status, 403, 'for an unknown console')
  assert.equal((await renew('cell', 'k1')).body['site'], undefined)
})

test('no machine is admitted in the role of another', async () => {
  await using all = await openAll()
  await using other = await openAll()
  const { api, cloud } = all
  const body = { csr: await makeRequest(await makeKey()) }
  const renew = (as: MachineIdentity) => post(api, '/machine/v1/renew', body, as)
  // With a message, or by a connection that is closed before there is one.
  const isRefused = (as: MachineIdentity) =>
    renew(as).then(
      ({ status }) => status === 403,
      (error: unknown) => error instanceof Fault && error.kind === 'unavailable',
    )
  assert.equal((await renew(await machine(api, 'host', cloud.host))).status, 200)
  // A hosts' issuer that names a cell, and a control issuer that names a host.
  const asCell = await machine(api, 'cell', 'c2', { signedBy: 'hosts' })
  assert.ok(await isRefused(asCell))
  const asHost = await machine(api, 'host', cloud.host, { signedBy: 'control' })
  assert.ok(await isRefused(asHost))
  // Issuers of another cloud that use our names.
  const issuers = other.api.identity.issuers
  for (const role of ['host', 'cell'] as const) {
    const foreign = await machine(api, role, cloud.host, { ...(issuers && { issuers }) })
    assert.equal((await renew(foreign)).status, 403)
  }
  // A host without a row, and a cell that sends a request meant for hosts.
  const stranger = await machine(api, 'host', '00000000-0000-4000-8000-000000000000')
  assert.ok(await isRefused(stranger))
  const cell = await machine(api, 'cell', 'c2')
  using link = new MachineLink({ address: '127.0.0.1', port: api.port }, cell, { role: 'cell' })
  const image = await link.ask({ method: 'GET', path: `/machine/v1/images/${DIGEST}?vm=x` })
  assert.equal(image.statusCode, 403)
  image.destroy()
})

test('a cell of an old epoch is rejected', async () => {
  await using all = await openAll()
  const { api, db } = all
  const body = { csr: await makeRequest(await makeKey()) }
  const cell = await machine(api, 'cell', 'c2')
  assert.equal((await post(api, '/machine/v1/renew', body, cell)).status, 200)
  assert.equal(await raiseEpoch(db), 2)
  const refused = await post(api, '/machine/v1/renew', body, cell)
  assert.match(refused.body['message'] ?? '', /revoked/)
  const next = await machine(api, 'cell', 'c2', { epoch: 2 })
  assert.equal((await post(api, '/machine/v1/renew', body, next)).status, 200)
})

test('an image is sent only to a host on which a VM that needs it is placed', async () => {
  await using all = await openAll()
  const { api, db, cloud } = all
  const bytes = randomBytes(3_000_000)
  await writeFile(join(api.images, DIGEST), bytes)
  const { vms } = await cloud.addVms(1)
  const [vm = ''] = vms
  const shown = await machine(api, 'host', cloud.host)
  using link = new MachineLink({ address: '127.0.0.1', port: api.port }, shown, { role: 'cell' })
  const ask = (digest: string, id: string) =>
    link.ask({ method: 'GET', path: `/machine/v1/images/${digest}?vm=${id}` })
  const answer = await ask(DIGEST, vm)
  assert.deepEqual(Buffer.concat(await Array.fromAsync(answer as AsyncIterable<Buffer>)), bytes)
  const statusOf = async (digest: string, id: string) => {
    const { statusCode } = await ask(digest, id).then((each) => each.resume())
    return statusCode
  }
  assert.equal(await statusOf('b'.repeat(64), vm), 403)
  assert.equal(await statusOf(DIGEST, '00000000-0000-4000-8000-000000000000'), 403)
  assert.equal(await statusOf(DIGEST, 'x%27'), 403)
  assert.equal(await statusOf('../../etc/passwd', vm), 404)
  const elsewhere = await db
    .insertInto('host')
    .values({ name: 'h2', address: '127.0.0.1', port: 1, public_key: 'x' })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db.updateTable('vm').set({ host: elsewhere.id }).execute()
  assert.equal(await statusOf(DIGEST, vm), 403)
})

test('a revoked host is rejected, and its open connections are closed within 5 s', async () => {
  await using all = await openAll()
  const { api, db, cloud } = all
  // A sparse file so large that no reader reaches its end.
  await writeFile(join(api.images, DIGEST), '')
  await truncate(join(api.images, DIGEST), 1024 ** 4)
  const { vms } = await cloud.addVms(1)
  const shown = await machine(api, 'host', cloud.host)
  const target = { address: '127.0.0.1', port: api.port }
  using link = new MachineLink(target, shown, { role: 'cell' })
  const path = `/machine/v1/images/${DIGEST}?vm=${vms[0]}`
  const stream = await link.ask({ method: 'GET', path })
  assert.equal(stream.statusCode, 200)
  const dropped = assert.rejects(once(stream.resume(), 'end'), { code: 'ECONNRESET' })
  const began = performance.now()
  await revokeHost(db, cloud.host)
  await dropped
  assert.ok(performance.now() - began < 5000)
  const renewal = { csr: await makeRequest(await makeKey()) }
  const refused = await post(api, '/machine/v1/renew', renewal, shown).catch(() => ({ status: 0 }))
  assert.ok([0, 403].includes(refused.status))
  const seen = await db
    .selectFrom('vm')
    .select('displayed_status')
    .where('host', '=', cloud.host)
    .execute()
  assert.deepEqual(seen, [{ displayed_status: 'UNKNOWN' }])
})
