// Goal: a renewed certificate is used for new requests, while requests in progress continue. Method: real TLS on both
// sides, certificates of openssl, a simulated host behind mTLS that is followed from a real Postgres.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'

import { hostServer, type SessionLine } from '@skerry/host-api'
import { startIssuer, until, type Postgres } from '@skerry/lab'
import { simulatedHost } from '@skerry/lab/simulated-host'
import { showCertificate } from '@skerry/service'

import { ours } from '../src/dialect/dialect.ts'
import { HostLinks } from '../src/hosts/connect.ts'
import { findHost, type HostRow } from '../src/hosts/hosts.ts'
import { buildServer } from '../src/http/server.ts'
import { openCloudDatabase, startDatabases } from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

test('a cell uses its new certificate for hosts, and open sessions are not interrupted', async () => {
  await using cloud = await openCloudDatabase(postgres)
  await using control = await startIssuer('control')
  await using hosts = await startIssuer('hosts')
  const pair = await hosts.issue(`URI:skerry://lab/host/${cloud.host}`)
  const [first, second] = [
    await control.issue('URI:skerry://lab/cell/c1'),
    await control.issue('URI:skerry://lab/cell/c1'),
  ]
  const epochs = { highest: 0, raise: async () => undefined }
  const server = hostServer({ ...pair, ca: control.cert }, simulatedHost(), {
    cloud: 'lab',
    epochs,
  })
  /** The serial numbers of the client certificates at the host, link by link. */
  const shown: string[] = []
  const open = new Set<TLSSocket>()
  server.on('secureConnection', (socket: TLSSocket) => {
    shown.push(socket.getPeerCertificate().serialNumber)
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  await using _ = {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const { port } = server.address() as AddressInfo
  await cloud.db.updateTable('host').set({ port }).execute()
  const row = (await findHost(cloud.db, cloud.host)) as HostRow
  let current = first
  using links = new HostLinks(cloud.db, () => ({ ...current, ca: hosts.cert }))
  const host = links.following(row)
  const ended = new AbortController()
  const lines = host.follow('7', ended.signal)[Symbol.asyncIterator]()
  const next = async () => (await lines.next()).value as SessionLine
  assert.deepEqual([(await next()).kind, (await next()).kind], ['hello', 'listEnd'])
  await host.ping('7', '1')
  assert.deepEqual(new Set(shown), new Set(['01']))

  current = second
  await host.ping('7', '2')
  assert.equal(shown.at(-1), '02', 'all new requests')
  assert.equal((await next()).kind, 'ping', 'requests in progress continue')
  await until('of the old connections only the session remains', () => open.size === 2)
  await links.at(cloud.host).ping('7', '3')
  assert.equal(shown.filter((serial) => serial === '02').length, 1, 'over the same connection')

  const over = next().catch((error: Error) => error)
  await cloud.db.updateTable('host').set({ state: 'revoked' }).execute()
  await assert.rejects(links.at(cloud.host).ping('7', '4'), /revoked/)
  assert.ok((await over) instanceof Error, 'a session on an old connection ends with the host')
  await until('nothing is open', () => open.size === 0)
  ended.abort()
})

/** The serial number of the certificate for new connections. */
async function serialAt(port: number): Promise<{ serial: string; socket: TLSSocket }> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  return { serial: socket.getPeerCertificate().serialNumber, socket }
}

test('new connections of tenants get the new certificate, and open ones stay', async () => {
  await using issuer = await startIssuer('public')
  const [first, second] = [await issuer.issue('DNS:cloud'), await issuer.issue('DNS:cloud')]
  const nothing = undefined as never
  const options = { dialect: ours, requestId: () => 'r', log: () => undefined }
  const api = buildServer(nothing, [], nothing, { ...options, tls: first })
  await api.listen({ port: 0, host: '127.0.0.1' })
  await using _ = { [Symbol.asyncDispose]: () => api.close() }
  const { port } = api.server.address() as AddressInfo
  const before = await serialAt(port)
  showCertificate(api, second)
  const later = await serialAt(port)
  assert.deepEqual([before.serial, later.serial], ['01', '02'])
  before.socket.write('GET /nothing HTTP/1.1\r\nhost: cloud\r\nconnection: close\r\n\r\n')
  assert.match(String((await once(before.socket, 'data'))[0]), /^HTTP\/1\.1 404/)
  later.socket.destroy()
})
