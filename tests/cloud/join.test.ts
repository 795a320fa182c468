// Goal: a machine joins only the cloud that invited it, and stays the same host. Method: vmd's side of joining against a cell's
// real machine API on a real PostgreSQL.
import assert from 'node:assert/strict'
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempDisposable, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'
import { fingerprintOf } from '@skerry/service'

import { addInvitation } from '../../apps/cloud/src/identity/invitations.ts'
import { openCloudDatabase, startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import { openTestMachineApi } from '../../apps/cloud/test/machine-api.ts'
import { renewMembership, settleCertificate } from '../../apps/vmd/src/host/certificate.ts'
import { joinCloud, type Invitation } from '../../apps/vmd/src/host/join.ts'
import { membershipFiles, readMembership } from '../../apps/vmd/src/host/membership.ts'

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  postgres = await startDatabases()
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})

async function openAll(cloud?: string) {
  assert(postgres)
  await using stack = new AsyncDisposableStack()
  const { db } = stack.use(await openCloudDatabase(postgres))
  const api = stack.use(await openTestMachineApi(db, cloud === undefined ? {} : { cloud }))
  const { path: directory } = stack.use(await mkdtempDisposable(join(tmpdir(), 'skerry-join-')))
  const machine = { directory, name: 'h', address: undefined, port: 8443 }
  const invite = async (port = api.port): Promise<Invitation> => {
    const token = randomBytes(32).toString('base64url')
    await addInvitation(db, token, undefined)
    const fingerprint = fingerprintOf(api.identity.trusted.control)
    return { cells: [new URL(`https://127.0.0.1:${port}`)], token, fingerprint }
  }
  const moved = stack.move()
  return { db, api, machine, invite, [Symbol.asyncDispose]: () => moved.disposeAsync() }
}

/** A proxy between a machine and its cell: counts the traffic, and can drop the response. */
async function startWire(port: number, losesThis: () => Promise<boolean>) {
  const sockets = new Set<Socket>()
  const links: { sent: number }[] = []
  const server = createServer((near) => {
    const link = { sent: 0 }
    links.push(link)
    const far = connect(port, '127.0.0.1')
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (chunk) => {
      link.sent += chunk.length
      far.write(chunk)
    })
    let before = Promise.resolve()
    far.on('data', (chunk) => {
      before = before.then(async () => {
        if (await losesThis()) near.destroy()
        else near.write(chunk)
      })
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    links,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a machine joins, may repeat the command, and only its owner can read its key', async () => {
  await using all = await openAll()
  const { machine, db } = all
  const invitation = await all.invite()
  const joined = await joinCloud(invitation, machine)
  assert.equal(joined.again, false)
  const member = await readMembership(machine.directory)
  assert.deepEqual([member?.cloud, member?.host], [joined.cloud, joined.host])
  assert.deepEqual(member?.cells, [{ address: '127.0.0.1', port: all.api.port }])
  for (const file of [membershipFiles.key, membershipFiles.cert]) {
    assert.equal((await stat(join(machine.directory, file))).mode & 0o777, 0o600)
  }
  const row = await db.selectFrom('host').selectAll().where('name', '=', 'h').executeTakeFirst()
  assert.deepEqual([row?.id, row?.address, row?.port], [joined.host, '127.0.0.1', 8443])
  assert.deepEqual(await joinCloud(invitation, machine), { ...joined, again: true })
  await assert.rejects(joinCloud(await all.invite(), machine), /already/)
})

test('nothing is sent to a server that cannot present the issuer of the invitation', async () => {
  await using all = await openAll()
  await using wire = await startWire(all.api.port, async () => false)
  const invitation = { ...(await all.invite(wire.port)), fingerprint: '0'.repeat(64) }
  await assert.rejects(joinCloud(invitation, all.machine), { kind: 'forbidden' })
  assert.equal(wire.links.length, 1)
  const used = await all.db.selectFrom('invitation').select('public_key').execute()
  assert.deepEqual(used, [{ public_key: null }])
  assert.equal(await readMembership(all.machine.directory), undefined)
})

test('a lost response is requested again, and returns the same host', async () => {
  await using all = await openAll()
  const hosts = () => all.db.selectFrom('host').select('id').where('name', '=', 'h').execute()
  let loses = true
  // The response is the first data after the host was created.
  await using wire = await startWire(all.api.port, async () => loses && (await hosts()).length > 0)
  const invitation = await all.invite(wire.port)
  await assert.rejects(joinCloud(invitation, all.machine), { kind: 'unavailable' })
  const made = await hosts()
  assert.equal(made.length, 1)
  loses = false
  assert.equal((await joinCloud(invitation, all.machine)).host, made[0]?.id)
})

test('a renewal has a new key, and an interrupted one is completed', async () => {
  await using all = await openAll()
  const { directory } = all.machine
  await joinCloud(await all.invite(), all.machine)
  const first = await readMembership(directory)
  assert(first)
  await renewMembership(directory, first)
  const second = await readMembership(directory)
  assert(second)
  assert.equal(second.host, first.host)
  assert.notEqual(second.identity.key, first.identity.key)
  assert.ok(isPair(second.identity))
  // As after a crash: the new key is in place, the new certificate is not.
  const at = (file: keyof typeof membershipFiles) => join(directory, membershipFiles[file])
  await rename(at('cert'), at('nextCert'))
  await writeFile(at('cert'), first.identity.cert)
  await settleCertificate(directory)
  assert.deepEqual(await readMembership(directory), second)
  // And before either was in place.
  await rename(at('cert'), at('nextCert'))
  await rename(at('key'), at('nextKey'))
  await writeFile(at('cert'), first.identity.cert)
  await writeFile(at('key'), first.identity.key)
  await settleCertificate(directory)
  assert.deepEqual(await readMembership(directory), second)
  await rm(at('nextKey'), { force: true })
  assert.equal(await readFile(at('key'), 'utf8'), second.identity.key)
})

test('a host of one cloud does not become a host of another', async () => {
  await using all = await openAll()
  await using other = await openAll('another')
  await joinCloud(await all.invite(), all.machine)
  await assert.rejects(joinCloud(await other.invite(), all.machine), { kind: 'conflict' })
  const used = await other.db.selectFrom('invitation').select('public_key').execute()
  assert.deepEqual(used, [{ public_key: null }])
})

const isPair = ({ key, cert }: { readonly key: string; readonly cert: string }): boolean =>
  new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))
