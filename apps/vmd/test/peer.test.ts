import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'

import { findHolder, findPeer, isOwnSocket, type Ends } from '../src/local/access/peer.ts'

const findUid = (table: string, between: Ends) => findHolder(table, between)?.uid

const ends = {
  theirs: { address: '127.0.0.1', port: 40_000 },
  ours: { address: '127.0.0.1', port: 8080 },
}
const line = (local: string, remote: string, state: string, uid: number, inode: number) =>
  `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000 ${uid.toString().padStart(5)}        0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`
const THEIRS = '0100007F:9C40'
const OURS = '0100007F:1F90'
const MAPPED = '0000000000000000FFFF0000'

test('the user is in the line of the peer’s end', () => {
  const table = line(OURS, THEIRS, '01', 0, 11) + line(THEIRS, OURS, '01', 1000, 12)
  assert.equal(findUid(table, ends), 1000)
})

test('a connection that is in no table has no user', () => {
  assert.equal(findUid('', ends), undefined)
  assert.equal(findUid(line(OURS, THEIRS, '01', 0, 11), ends), undefined)
})

test('a socket that its program has closed has no user, although the kernel reports user 0', () => {
  for (const state of ['04', '05', '06', '09'])
    assert.equal(findUid(line(THEIRS, OURS, state, 0, 0), ends), undefined)
})

test('a half-closed socket keeps its user', () => {
  assert.equal(findUid(line(THEIRS, OURS, '05', 1000, 12), ends), 1000)
})

test('IPv4 over an IPv6 socket is found in the IPv6 table', () => {
  const table = line(`${MAPPED}${THEIRS}`, `${MAPPED}${OURS}`, '01', 1001, 13)
  assert.equal(findUid(table, ends), 1001)
})

/** A connection from this process to itself, as seen by its server. */
async function accepted(
  host: string,
  by: string,
): Promise<{ seen: Socket; client: Socket; end: Disposable }> {
  const server = createServer({ allowHalfOpen: true })
  server.listen(0, host)
  await once(server, 'listening')
  const met = once(server, 'connection')
  const client = connect({ port: (server.address() as AddressInfo).port, host: by })
  const [seen] = (await met) as [Socket]
  await once(client, 'connect')
  const end = {
    [Symbol.dispose]() {
      client.destroy()
      seen.destroy()
      server.close()
    },
  }
  return { seen, client, end }
}

for (const [host, by] of [
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1', '::ffff:127.0.0.1'],
  ['::1', '::1'],
] as const) {
  test(`the kernel’s tables show the user that connects to ${host} by ${by}`, async () => {
    const { seen, end } = await accepted(host, by)
    using _ = end
    const { uid, inode } = (await findPeer(seen)) ?? {}
    assert.equal(uid, process.getuid?.())
    assert.ok(isOwnSocket(inode ?? ''), 'both ends are of this process')
  })
}

test('a connection closed before the lookup has no user', async () => {
  const { seen, client, end } = await accepted('127.0.0.1', '127.0.0.1')
  using _ = end
  client.destroy()
  await once(client, 'close')
  assert.equal(await findPeer(seen), undefined)
})

test('a socket of another process is not our own', async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const met = once(server, 'connection')
  const other = spawn(process.execPath, ['-e', `require('node:net').connect(${port}, '127.0.0.1')`])
  try {
    const [seen] = (await met) as [Socket]
    const { uid, inode } = (await findPeer(seen)) ?? {}
    assert.equal(uid, process.getuid?.())
    assert.ok(!isOwnSocket(inode ?? ''))
    seen.destroy()
  } finally {
    other.kill('SIGKILL')
    server.close()
  }
})
