// Goal: `skerry ui` leads to the web UI of this machine. Method: a small server in place of vmd.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { answer, skerry, startDaemon } from './terminal.ts'

const daemonWith = (body: object) => startDaemon((_, reply) => answer(reply, 201, body))

test('the URL of the web UI is printed, and opened if there is a browser', async () => {
  await using daemon = await daemonWith({ page: '/ui/' })
  const address = `${daemon.url}/ui/`
  const bare = await skerry(daemon.url, ['ui'])
  assert.deepEqual([bare.code, bare.out, bare.err, bare.programs], [0, `${address}\n`, '', []])
  assert.deepEqual(daemon.requested, ['POST /api/ui/ticket'])
  const opened = await skerry(daemon.url, ['ui'], { browser: 'xdg-open' })
  assert.deepEqual([opened.out, opened.programs], [`${address}\n`, [['xdg-open', address]]])
  const printed = await skerry(daemon.url, ['ui', '--print'], { browser: 'xdg-open' })
  assert.deepEqual([printed.out, printed.programs], [`${address}\n`, []])
})

test('with a token the URL has a ticket, and the user learns how long it is good', async () => {
  const expires = '2026-11-15T12:00:30.000Z'
  await using daemon = await daemonWith({ page: '/ui/#ticket=T', expires })
  const { out, err } = await skerry(daemon.url, ['ui', '--print'])
  assert.equal(out, `${daemon.url}/ui/#ticket=T\n`)
  assert.equal(err, 'the URL can be used once, within 30 seconds\n')
  const { out: text } = await skerry(daemon.url, ['ui', '--json'], { browser: 'xdg-open' })
  assert.deepEqual(JSON.parse(text), { address: `${daemon.url}/ui/#ticket=T`, expires })
})
