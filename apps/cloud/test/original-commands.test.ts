// Goal: an operator gives a cloud its second address, for clients of the original API, and each cell its own listen address.
// Method: the real commands on a real PostgreSQL; the files that they write, and the names in the server certificate.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'

import { readConfig } from '../src/config.ts'
import { readIdentity } from '../src/identity/issuers.ts'
import { startDatabases } from './cloud-database.ts'
import { openCommands } from './command-site.ts'

let postgres: (Postgres & AsyncDisposable) | undefined
before(async () => {
  postgres = await startDatabases('nothing')
})
after(async () => {
  await postgres?.[Symbol.asyncDispose]()
})

const ORIGINAL = 'https://old.example:9443'

test('a cloud has one address by default; a second one is kept once given, and can be changed', async () => {
  await using site = await openCommands(postgres)
  await site.init()
  assert.equal((await readConfig(site.config)).original, undefined)
  const before = await readFile(site.config, 'utf8')
  await site.init()
  assert.equal(await readFile(site.config, 'utf8'), before)

  const said = await site.type(['init', '--original', ORIGINAL])
  assert.match(said, /address for clients of the original API: https:\/\/old\.example:9443/)
  const { original } = await readConfig(site.config)
  assert.deepEqual(original, { base: ORIGINAL, listen: { address: '::', port: 9443 } })
  await site.init()
  assert.deepEqual((await readConfig(site.config)).original, original, 'it stays')

  await site.type(['init', '--original-listen', '127.0.0.1:9444'])
  const moved = (await readConfig(site.config)).original
  assert.deepEqual(moved, { base: ORIGINAL, listen: { address: '127.0.0.1', port: 9444 } })
})

test('the server certificate covers both names as soon as there are two', async () => {
  await using site = await openCommands(postgres)
  await site.init()
  const { identity } = await readConfig(site.config)
  const shown = async () => (await readIdentity(identity)).server.cert
  const first = await shown()
  await site.init()
  assert.equal(await shown(), first, 'a valid certificate is not issued again')
  await site.type(['init', '--original', ORIGINAL])
  const second = new X509Certificate(await shown())
  assert.ok(second.checkIP('127.0.0.1'))
  assert.equal(second.checkHost('old.example'), 'old.example')
  await site.type(['init', '--original', 'https://127.0.0.1:9443'])
  const third = new X509Certificate(await shown())
  assert.equal(third.fingerprint256, second.fingerprint256, 'it was for this name before')
})

test('every cell has the same second address, and its own listen address', async () => {
  await using site = await openCommands(postgres)
  await site.init()
  const out = join(site.dir, 'c2')
  const make = (...more: string[]) => site.type(['cell', 'create', 'c2', '--out', out, ...more])
  const isNone = { kind: 'invalid', message: /--original-listen needs a cloud/ }
  await assert.rejects(make('--original-listen', '127.0.0.1:9445'), isNone)
  await site.type(['init', '--original', ORIGINAL, '--original-listen', '127.0.0.1:9444'])
  await make()
  const same = await readConfig(join(out, 'cloud.json'))
  assert.deepEqual(same.original?.listen, { address: '127.0.0.1', port: 9444 })
  await make('--original-listen', '127.0.0.1:9445')
  const { original } = await readConfig(join(out, 'cloud.json'))
  assert.deepEqual(original, { base: ORIGINAL, listen: { address: '127.0.0.1', port: 9445 } })
  const { server } = await readIdentity(join(out, 'identity'))
  assert.ok(new X509Certificate(server.cert).checkHost('old.example'))
})

test('invalid options are rejected, and nothing is written', async () => {
  await using site = await openCommands(postgres)
  await site.init()
  await site.type(['init', '--console', 'console.example'])
  for (const [words, message] of [
    [['--original-listen', '127.0.0.1:9444'], /needs --original/],
    [['--original', 'http://old.example'], /original/],
    [['--original', ORIGINAL, '--original-listen', 'here'], /--original-listen must be like/],
    [['--original', ORIGINAL, '--console', 'old.example:443'], /another host than the cloud/],
    [['--original', 'https://console.example:9443'], /another host than the cloud/],
  ] as const) {
    await assert.rejects(
      site.type(['init', ...words]),
      { kind: 'invalid', message },
      words.join(' '),
    )
  }
  assert.equal((await readConfig(site.config)).original, undefined)
})
