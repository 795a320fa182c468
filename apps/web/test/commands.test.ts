import assert from 'node:assert/strict'
import { test } from 'node:test'

import { contentRange, nextPart, PART_BYTES } from '../src/api/transfer.ts'
import {
  commandOf,
  createCommand,
  curlCommand,
  listCommand,
  networkCommand,
  snapshotCommand,
} from '../src/model/commands.ts'

test('names are quoted for a shell', () => {
  assert.equal(commandOf('start', 'web-1'), 'skerry start web-1')
  assert.equal(commandOf('delete', "a b'c"), String.raw`skerry rm 'a b'\''c'`)
  assert.equal(commandOf('discardState', 'web-1'), undefined)
  assert.equal(snapshotCommand('web-1', 'a b', true), "skerry snapshot create web-1 'a b'")
  assert.equal(snapshotCommand('web-1', 'a', false), 'skerry snapshot create web-1 a --disk-only')
  assert.equal(listCommand('vm', 'memoryMB=gt=4096'), 'skerry vm list --filter memoryMB=gt=4096')
})

test('the command of a new VM has the values of the form', () => {
  const command = createCommand({
    name: 'web-1',
    template: 'debian-13',
    cpus: 2,
    memoryMiB: 4096,
    hasSshKey: true,
    start: true,
  })
  assert.equal(
    command,
    'skerry create web-1 --template debian-13 --cpus 2 --memory 4G --ssh-key ~/.ssh/id_ed25519.pub --start',
  )
})

test('the command of a new network asks for IPv6 if it is routed', () => {
  const network = { name: 'lab', range: '10.30.0.0/24', gateway: '', pool: '', dns: '' }
  const isolated = { ...network, kind: 'isolated', hasIpv6: true } as const
  const line = 'skerry network create lab --range 10.30.0.0/24'
  assert.equal(networkCommand(isolated), line)
  assert.equal(networkCommand({ ...isolated, kind: 'routed' }), `${line} --routed --ipv6`)
})

test('curl sends the version and the body', () => {
  const line = curlCommand('POST', '/api/x', { name: 'a' })
  assert.match(line, /-X POST .*version=5\.1.* -d '\{"name":"a"\}' \$cloud\/api\/x$/)
})

test('a file is sent in parts until its end', () => {
  const size = PART_BYTES + 100
  assert.equal(contentRange(nextPart(0, size), size), `bytes 0-${PART_BYTES - 1}/${size}`)
  assert.equal(
    contentRange(nextPart(PART_BYTES, size), size),
    `bytes ${PART_BYTES}-${size - 1}/${size}`,
  )
})
