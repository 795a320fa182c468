// Goal: hosts and network servers trust each other, and no other certificate of the cloud opens OVN's database. Method: vmd's side against
// a cell's real machine API on a real PostgreSQL, and the certificates at a real ovsdb-server.
import assert from 'node:assert/strict'
import { randomBytes, X509Certificate } from 'node:crypto'
import { mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { cloudDirectory, defaultPaths } from '@skerry/engine'
import type { Fault } from '@skerry/fault'
import { reasonWithoutRoot, type Postgres } from '@skerry/lab'
import { ConnectionLost, Ovsdb } from '@skerry/ovsdb'
import { fingerprintOf } from '@skerry/service'
import type { HostId } from '@skerry/vm'

import { revokeHost } from '../../apps/cloud/src/hosts/host-states.ts'
import { addInvitation } from '../../apps/cloud/src/identity/invitations.ts'
import {
  ensureNetworkIssuers,
  makeNetworkServer,
} from '../../apps/cloud/src/identity/network-issuers.ts'
import { openCloudDatabase, startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import { issuing, openTestMachineApi } from '../../apps/cloud/test/machine-api.ts'
import { joinCloud } from '../../apps/vmd/src/host/join.ts'
import { readMembership } from '../../apps/vmd/src/host/membership.ts'
import {
  keepOverlayCertificate,
  renewOverlay,
} from '../../apps/vmd/src/host/overlay-certificate.ts'
import { startOvsdbServer } from '../../packages/ovsdb/test/start-ovsdb-server.ts'

const skip = reasonWithoutRoot('cloud', 'network') ?? false

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  if (skip === false) postgres = await startDatabases()
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})

/** A machine that has joined a cloud without network servers. */
async function openAll() {
  assert(postgres)
  await using stack = new AsyncDisposableStack()
  const { db } = stack.use(await openCloudDatabase(postgres))
  const api = stack.use(await openTestMachineApi(db))
  const { path: data } = stack.use(await mkdtempDisposable(join(tmpdir(), 'skerry-overlay-')))
  const paths = { ...defaultPaths, data }
  const token = randomBytes(32).toString('base64url')
  await addInvitation(db, token, undefined)
  const fingerprint = fingerprintOf(api.identity.trusted.control)
  const cells = [new URL(`https://127.0.0.1:${api.port}`)]
  const directory = cloudDirectory(paths)
  const machine = { directory, name: 'h', address: undefined, port: 8443 }
  const { cloud, host } = await joinCloud({ cells, token, fingerprint }, machine)
  const membership = await readMembership(directory)
  assert(membership)
  const overlay = join(directory, 'overlay')
  const current = async () => {
    const at = join(overlay, (await readFile(join(overlay, 'current'), 'utf8')).trim())
    const read = (file: string) => readFile(join(at, file), 'utf8')
    const [key, cert, ca] = [
      await read('key.pem'),
      await read('certificate.pem'),
      await read('issuers.pem'),
    ]
    return { at, key, cert, ca }
  }
  const moved = stack.move()
  const whole = { db, api, paths, cloud, host, membership, overlay, current }
  return { ...whole, [Symbol.asyncDispose]: () => moved.disposeAsync() }
}

test(
  'a host and a network server reach each other by their issuers, and other certificates are refused',
  { skip },
  async () => {
    await using all = await openAll()
    const { api, paths, membership, host, cloud, current } = all
    const issuers = await ensureNetworkIssuers(api.images, cloud, issuing)
    const made = await makeNetworkServer(issuers, { name: 'n1', host: '127.0.0.1' }, issuing)
    await using server = await startOvsdbServer({
      certificate: { ...made, ca: issuers.overlay.cert },
    })
    await renewOverlay(paths, membership)
    const { at, ...own } = await current()
    assert.equal(new X509Certificate(own.cert).subject, `CN=${host}`)
    const issued = new X509Certificate(own.cert)
    assert.ok(issued.validToDate.getTime() - Date.now() <= 24 * 3_600_000)
    assert.equal((await stat(join(at, 'key.pem'))).mode & 0o777, 0o600)
    const where = { host: '127.0.0.1', port: server.port }
    {
      await using ovsdb = await Ovsdb.open({ ...where, ...own })
      assert.deepEqual(await ovsdb.select('Test', 'Host', ['name']), [])
    }
    const { key, cert } = membership.identity
    const refused = [
      // The host's certificate for cells, and another network server.
      { key, cert, ca: own.ca },
      { ...(await makeNetworkServer(issuers, { name: 'n2', host: '::1' }, issuing)), ca: own.ca },
      // A host that trusts the issuer of hosts would trust any host as a server.
      { ...own, ca: issuers.overlay.cert },
    ]
    for (const each of refused)
      await assert.rejects(Ovsdb.open({ ...where, ...each }), ConnectionLost)
  },
)

test(
  'a renewed certificate has its own directory, and the one before stays readable',
  { skip },
  async () => {
    await using all = await openAll()
    const { api, paths, membership, cloud, overlay, current } = all
    await ensureNetworkIssuers(api.images, cloud, issuing)
    const names: string[] = []
    for (let round = 0; round < 3; round += 1) {
      await renewOverlay(paths, membership)
      const { at, cert } = await current()
      names.push(at)
      assert.match(cert, /BEGIN CERTIFICATE/)
    }
    assert.equal(new Set(names).size, 3)
    const left = (await readdir(overlay)).map((name) => join(overlay, name))
    assert.deepEqual(left.toSorted(), [...names.slice(1), join(overlay, 'current')].toSorted())
  },
)

test(
  'without a network server there is no certificate, and a revoked host gets no other',
  { skip },
  async () => {
    await using all = await openAll()
    const { db, api, paths, membership, cloud, host, current } = all
    await assert.rejects(renewOverlay(paths, membership), { kind: 'not-found' })
    await ensureNetworkIssuers(api.images, cloud, issuing)
    await renewOverlay(paths, membership)
    await revokeHost(db, host as HostId)
    const before = await current()
    // The cell either answers or has ended the connection already.
    await assert.rejects(renewOverlay(paths, membership), ({ kind }: Fault) =>
      ['forbidden', 'unavailable'].includes(kind),
    )
    assert.deepEqual(await current(), before)
  },
)

test(
  'a host whose clock is late gets one certificate, and the next one only after minutes',
  { skip },
  async () => {
    await using all = await openAll()
    const { api, membership, cloud, current } = all
    await ensureNetworkIssuers(api.images, cloud, issuing)
    const openvswitch = all.paths.data
    await writeFile(join(openvswitch, 'db.sock'), '')
    const ended = new AbortController()
    const pauses: number[] = []
    const logged: string[] = []
    const host = {
      paths: { ...all.paths, openvswitch },
      membership: () => membership,
      now: () => new Date('2001-01-01'),
      pause: async (ms: number) => {
        pauses.push(ms)
        ended.abort()
      },
      log: (message: string) => logged.push(message),
    }
    await keepOverlayCertificate(host, ended.signal)
    assert.match((await current()).cert, /BEGIN CERTIFICATE/)
    assert.deepEqual(pauses, [600_000])
    assert.match(logged.at(-1) ?? '', /its clock is late/)
  },
)
