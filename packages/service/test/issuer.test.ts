// Goal: our certificates are accepted by real TLS only where they should be. Method: node:tls on both sides.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { connect, createServer, type TLSSocket } from 'node:tls'

import {
  fingerprintOf,
  isIssuedBy,
  issueCertificate,
  makeIssuer,
  makeKey,
  makeRequest,
  publicKeyOf,
  readRequest,
  spanFrom,
  type Issuer,
} from '../src/index.ts'

const now = new Date()
const span = spanFrom(now, 60_000)

const issuerNamed = async (subject: string): Promise<Issuer> =>
  makeIssuer({ key: await makeKey(), subject, serial: '01', ...span })

async function machine(issuer: Issuer, uri: string, more: Partial<typeof span> = {}) {
  const key = await makeKey()
  const requested = { publicKey: await readRequest(await makeRequest(key)), subject: 'machine' }
  const cert = await issueCertificate(issuer, {
    ...requested,
    serial: '7f00ff',
    uris: [uri, 'skerry://c/epoch/3'],
    ...span,
    ...more,
  })
  return { key, cert }
}

interface Shown {
  readonly key: string
  readonly cert: string
}

/** Whether each side accepts the other. */
async function meet(server: Shown, serverTrusts: string, client: Shown, clientTrusts: string) {
  const listener = createServer({
    ...server,
    ca: serverTrusts,
    minVersion: 'TLSv1.3',
    requestCert: true,
    rejectUnauthorized: false,
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const secured = once(listener, 'secureConnection') as Promise<[TLSSocket]>
  const socket = connect({
    port: (listener.address() as AddressInfo).port,
    host: '127.0.0.1',
    ...client,
    ca: clientTrusts,
    rejectUnauthorized: false,
    checkServerIdentity: () => undefined,
  })
  try {
    await once(socket, 'secureConnect')
    const [met] = await secured
    const names = met.getPeerX509Certificate()?.subjectAltName
    met.destroy()
    return { client: socket.authorized, server: met.authorized, names }
  } finally {
    socket.destroy()
    listener.close()
  }
}

test('machines of two issuers accept each other, and no other issuer', async () => {
  const control = await issuerNamed('control')
  const hosts = await issuerNamed('hosts')
  const cell = await machine(control, 'skerry://c/cell/a')
  const host = await machine(hosts, 'skerry://c/host/h')
  assert.deepEqual(await meet(host, control.cert, cell, hosts.cert), {
    client: true,
    server: true,
    names: 'URI:skerry://c/cell/a, URI:skerry://c/epoch/3',
  })
  const wrong = await meet(cell, control.cert, host, hosts.cert)
  assert.deepEqual([wrong.client, wrong.server], [false, false])
  const again = await issuerNamed('control')
  const foreign = await machine(again, 'skerry://c/cell/a')
  const met = await meet(foreign, control.cert, foreign, control.cert)
  assert.deepEqual([met.client, met.server], [false, false])
  assert.ok(isIssuedBy(new X509Certificate(cell.cert), control.cert))
  assert.ok(!isIssuedBy(new X509Certificate(cell.cert), hosts.cert))
  assert.ok(!isIssuedBy(new X509Certificate(foreign.cert), control.cert))
})

test('an expired certificate, and one issued by a machine, are rejected', async () => {
  const control = await issuerNamed('control')
  const cell = await machine(control, 'skerry://c/cell/a')
  const notAfter = new Date(now.getTime() - 1000)
  const old = await machine(control, 'skerry://c/cell/b', { notAfter })
  const met = await meet(cell, control.cert, old, control.cert)
  assert.deepEqual([met.client, met.server], [true, false])
  const forged = await machine(cell, 'skerry://c/cell/c')
  const chained = { key: forged.key, cert: forged.cert + cell.cert }
  assert.equal((await meet(cell, control.cert, chained, control.cert)).server, false)
})

test('a request proves possession of the key, and contains nothing else', async () => {
  const key = await makeKey()
  const request = await makeRequest(key)
  assert.equal(await readRequest(request), publicKeyOf(key))
  const bytes = Buffer.from(request.replace(/-----[^-]+-----|\s/g, ''), 'base64')
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  const spoiled = `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
  for (const wrong of [spoiled, '', 'x'.repeat(9000), publicKeyOf(key)]) {
    await assert.rejects(readRequest(wrong), { kind: 'invalid' })
  }
})

test('a fingerprint is the SHA-256 of the whole certificate', async () => {
  const { cert } = await issuerNamed('control')
  assert.match(fingerprintOf(cert), /^[0-9a-f]{64}$/)
})

test('DNS names and addresses are in the alternative names for browsers', async () => {
  const site = await issuerNamed('site')
  const key = await makeKey()
  const cert = await issueCertificate(site, {
    publicKey: publicKeyOf(key),
    subject: 'cloud',
    serial: '02',
    ...span,
    hosts: ['cloud.example', '127.0.0.1', '::1'],
  })
  const read = new X509Certificate(cert)
  assert.equal(read.checkHost('cloud.example'), 'cloud.example')
  assert.equal(read.checkIP('127.0.0.1'), '127.0.0.1')
})
