// Goal: no machine is taken for another one. Method: names as in real certificates.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { after, before, test } from 'node:test'

import { startIssuer, type TestIssuer } from '@skerry/lab'

import { epochUri, machineUri, whoIsPeer, whyNotPeer, type Peer } from '../src/index.ts'

let issuer: TestIssuer | undefined
before(async () => {
  issuer = await startIssuer('control')
})
after(() => issuer?.[Symbol.asyncDispose]())

const shownBy = async (...names: readonly string[]): Promise<Peer> => {
  assert(issuer)
  return whoIsPeer(new X509Certificate((await issuer.issue(...names)).cert))
}

test('a name is parsed to the same values it was written from', async () => {
  const name = { cloud: 'lab', role: 'cell', id: 'c-1' } as const
  assert.deepEqual(await shownBy(`URI:${machineUri(name)}`), { ...name, epoch: 0 })
  assert.deepEqual(await shownBy(`URI:${epochUri('lab', 7)}`, `URI:${machineUri(name)}`), {
    ...name,
    epoch: 7,
  })
})

test('DNS names and addresses are ignored', async () => {
  const peer = await shownBy('DNS:cell.example', 'IP:127.0.0.1', 'URI:skerry://lab/host/h-1')
  assert.deepEqual(peer, { cloud: 'lab', role: 'host', id: 'h-1', epoch: 0 })
})

const rejected: Readonly<Record<string, readonly string[]>> = {
  'no name at all': [],
  'only a host name': ['DNS:cell.example'],
  'two names': ['URI:skerry://lab/cell/a', 'URI:skerry://lab/cell/b'],
  'a role that there is not': ['URI:skerry://lab/root/a'],
  'a longer path': ['URI:skerry://lab/cell/a/b'],
  'a query': ['URI:skerry://lab/cell/a?b'],
  'no cloud': ['URI:skerry:///cell/a'],
  'a port': ['URI:skerry://lab:1/cell/a'],
  'an encoded slash': ['URI:skerry://lab/cell%2Fa'],
  'another scheme': ['URI:https://lab/cell/a'],
  'a name and one more that is not understood': ['URI:skerry://lab/cell/a', 'URI:skerry://lab/x'],
  'the epoch of another cloud': ['URI:skerry://lab/cell/a', 'URI:skerry://other/epoch/9'],
  'two epochs': ['URI:skerry://lab/cell/a', 'URI:skerry://lab/epoch/1', 'URI:skerry://lab/epoch/2'],
  'an epoch that is no number': ['URI:skerry://lab/cell/a', 'URI:skerry://lab/epoch/01'],
}

for (const [what, names] of Object.entries(rejected)) {
  test(`a certificate with ${what} is rejected`, async () => {
    await assert.rejects(shownBy(...names), { kind: 'forbidden' })
  })
}

test('a name inside another name is not parsed', () => {
  // As Node writes a name that could be taken for two; and as older versions wrote it.
  for (const subjectAltName of [
    'DNS:"x, URI:skerry://lab/cell/a"',
    'DNS:"x", URI:skerry://lab/cell/a',
  ]) {
    assert.throws(() => whoIsPeer({ subjectAltName }), { kind: 'forbidden' })
  }
})

test('role, cloud and epoch must match', () => {
  const rules = { cloud: 'lab', roles: ['cell'], epoch: 3 } as const
  const cell: Peer = { cloud: 'lab', role: 'cell', id: 'a', epoch: 3 }
  assert.equal(whyNotPeer(cell, rules), undefined)
  assert.equal(whyNotPeer({ ...cell, epoch: 4 }, rules), undefined)
  assert.match(whyNotPeer({ ...cell, epoch: 2 }, rules) ?? '', /revoked/)
  assert.match(whyNotPeer({ ...cell, cloud: 'b' }, rules) ?? '', /cloud lab/)
  for (const role of ['console', 'workflow', 'host'] as const) {
    assert.equal(whyNotPeer({ ...cell, role }, rules), `a ${role} may not send this request`)
  }
})
