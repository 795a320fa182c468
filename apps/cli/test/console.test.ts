// Goal: `skerry console` opens the screen with any kind of browser. Method: a small server in place of vmd.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Failure } from '../src/terminal/failure.ts'
import { answer, skerry, startDaemon } from './terminal.ts'

const daemonWith = (body: object, status = 201) =>
  startDaemon((_, reply) => answer(reply, status, body))

test('the URL is printed, and opened if there is a browser', async () => {
  await using daemon = await daemonWith({ page: '/console/web', state: 'powered on' })
  const address = `${daemon.url}/console/web`
  const bare = await skerry(daemon.url, ['console', 'web'])
  assert.deepEqual([bare.code, bare.out, bare.err], [0, `${address}\n`, ''])
  assert.deepEqual(bare.programs, [])
  assert.deepEqual(daemon.requested, ['POST /api/vms/web/screen'])
  for (const [browser, words] of [
    ['xdg-open', ['xdg-open', address]],
    ['firefox --new-window', ['firefox', '--new-window', address]],
    ['my-browser --at=%s --private', ['my-browser', `--at=${address}`, '--private']],
  ] as const) {
    const ran = await skerry(daemon.url, ['console', 'web'], { browser })
    assert.deepEqual([ran.out, ran.programs], [`${address}\n`, [words]])
    const summary = await skerry(daemon.url, ['console', 'web', '--print'], { browser })
    assert.deepEqual([summary.out, summary.programs], [`${address}\n`, []])
  }
})

test('--json opens nothing and prints the details', async () => {
  const expires = '2026-11-15T12:00:30.000Z'
  await using daemon = await daemonWith({ page: '/console/web?T', state: 'paused', expires })
  const { code, out, programs } = await skerry(daemon.url, ['console', 'web', '--json'], {
    browser: 'xdg-open',
  })
  assert.deepEqual([code, programs], [0, []])
  assert.deepEqual(JSON.parse(out), {
    address: `${daemon.url}/console/web?T`,
    state: 'paused',
    expires,
  })
})

test('for a VM that is off the URL is printed, with how to start it', async () => {
  for (const state of ['powered off', 'suspended']) {
    await using daemon = await daemonWith({ page: '/console/web', state })
    const { code, out, err } = await skerry(daemon.url, ['console', 'web'])
    assert.deepEqual([code, out], [0, `${daemon.url}/console/web\n`])
    assert.equal(err, `web is ${state}; turn it on: skerry start web\n`)
  }
})

test('a missing or failing browser only causes a message', async () => {
  await using daemon = await daemonWith({ page: '/console/web', state: 'powered on' })
  const failing = await skerry(daemon.url, ['console', 'web'], { browser: 'xdg-open' })
  assert.deepEqual(
    [failing.code, failing.err],
    [0, 'xdg-open exited with 7; open the URL yourself\n'],
  )
  const missing = await skerry(daemon.url, ['console', 'web'], {
    browser: 'nothing-here',
    runProgram: () =>
      Promise.reject(new Failure('refused', 'program nothing-here not found on this machine')),
  })
  assert.equal(missing.code, 0)
  assert.match(missing.out, /^http:.*\/console\/web\n$/)
  assert.match(missing.err, /program nothing-here not found .*; open the URL yourself\n$/)
})

test('an unknown VM fails with the message of vmd', async () => {
  await using daemon = await daemonWith({ code: 404, message: 'there is no VM web' }, 404)
  const { code, out, err } = await skerry(daemon.url, ['console', 'web'])
  assert.deepEqual([code, out, err], [1, '', 'skerry: there is no VM web\n'])
})
