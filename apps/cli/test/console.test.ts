// Goal: `skerry console` leads to the screen whatever the machine has to show it on. Method: a small server in the daemon's place.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Failure } from '../src/failure.ts'
import { answer, skerry, startDaemon } from './terminal.ts'

const daemonWith = (body: object, status = 201) =>
  startDaemon((_, reply) => answer(reply, status, body))

test('the address is printed, and opened where there is something to see it on', async () => {
  await using daemon = await daemonWith({ page: '/console/web', state: 'powered on' })
  const address = `${daemon.url}/console/web`
  const bare = await skerry(daemon.url, ['console', 'web'])
  assert.deepEqual([bare.code, bare.out, bare.err], [0, `${address}\n`, ''])
  assert.deepEqual(bare.programs, [])
  assert.deepEqual(daemon.asked, ['POST /api/vms/web/screen'])
  for (const [browser, words] of [
    ['xdg-open', ['xdg-open', address]],
    ['firefox --new-window', ['firefox', '--new-window', address]],
    ['my-browser --at=%s --private', ['my-browser', `--at=${address}`, '--private']],
  ] as const) {
    const ran = await skerry(daemon.url, ['console', 'web'], { browser })
    assert.deepEqual([ran.out, ran.programs], [`${address}\n`, [words]])
    const told = await skerry(daemon.url, ['console', 'web', '--print'], { browser })
    assert.deepEqual([told.out, told.programs], [`${address}\n`, []])
  }
})

test('--json is for programs: it opens nothing and tells what there is', async () => {
  const expires = '2026-11-15T12:00:30.000Z'
  await using daemon = await daemonWith({ page: '/console/web?T', state: 'paused', expires })
  const { code, out, programs } = await skerry(daemon.url, ['console', 'web', '--json'], {
    browser: 'xdg-open',
  })
  assert.deepEqual([code, programs], [0, []])
  assert.deepEqual(JSON.parse(out), {
    ...{ address: `${daemon.url}/console/web?T`, state: 'paused', expires },
  })
})

test('of a VM that is off the page is there too, and how to turn it on', async () => {
  for (const state of ['powered off', 'suspended']) {
    await using daemon = await daemonWith({ page: '/console/web', state })
    const { code, out, err } = await skerry(daemon.url, ['console', 'web'])
    assert.deepEqual([code, out], [0, `${daemon.url}/console/web\n`])
    assert.equal(err, `web is ${state}; turn it on: skerry start web\n`)
  }
})

test('a browser that fails or is not there costs nothing but a line', async () => {
  await using daemon = await daemonWith({ page: '/console/web', state: 'powered on' })
  const failing = await skerry(daemon.url, ['console', 'web'], { browser: 'xdg-open' })
  assert.deepEqual(
    [failing.code, failing.err],
    [0, 'xdg-open ended with 7; open the address yourself\n'],
  )
  const missing = await skerry(daemon.url, ['console', 'web'], {
    browser: 'nothing-here',
    runProgram: () =>
      Promise.reject(new Failure('refused', 'there is no program nothing-here on this machine')),
  })
  assert.equal(missing.code, 0)
  assert.match(missing.out, /^http:.*\/console\/web\n$/)
  assert.match(missing.err, /no program nothing-here .*; open the address yourself\n$/)
})

test('a VM that is not there is refused in the daemon’s words', async () => {
  await using daemon = await daemonWith({ code: 404, message: 'there is no VM web' }, 404)
  const { code, out, err } = await skerry(daemon.url, ['console', 'web'])
  assert.deepEqual([code, out, err], [1, '', 'skerry: there is no VM web\n'])
})
