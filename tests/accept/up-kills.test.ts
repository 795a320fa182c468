// Goal: skerry up that is killed anywhere goes on where it was, makes nothing twice and leaves nothing behind. Method: on a machine of the
// lab with real engines, kill -9 within a step that chance picks, again and again, each time further on; then once more to its end.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { guestImage, reasonToSkip, reasonWithoutTemporal, startHost, until } from '@skerry/lab'

import { chance } from '../faults/chance.ts'
import { onMachine, pidsOf, serversOf } from './up/machine.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const KILLS = 5
/** So many steps further on at most, before the next kill. */
const STEPS_MAX = 5
const WITHIN_MS = 700
const START_MS = 240_000

test('skerry up is killed at random and goes on where it was', { skip }, async (t) => {
  const seed = Number(process.env['SKERRY_SEED'] ?? Date.now() % 1_000_000)
  t.diagnostic(`SKERRY_SEED=${seed}`)
  const dice = chance(seed)
  await using directory = await mkdtempDisposable(join(tmpdir(), 'up-'))
  await using host = await startHost({ dir: join(directory.path, 'host') })
  const machine = onMachine(host)
  const image = await guestImage('small')
  const words = ['up', '--template', image] as const

  for (let kill = 0; kill < KILLS; kill++) {
    const child = machine.begin(...words)
    const wanted = Math.floor(dice.between(1, STEPS_MAX + 1))
    let seen = 0
    let last = 'nothing'
    const lines = createInterface({ input: child.stderr ?? process.stdin })
    const ended = once(child, 'close')
    lines.on('line', (line) => {
      if (!line.startsWith('step ')) return
      seen += 1
      last = line
    })
    // It may come to its end first.
    await Promise.race([until('steps pass', () => seen >= wanted, START_MS), ended])
    await sleep(dice.between(0, WITHIN_MS))
    child.kill('SIGKILL')
    await ended
    t.diagnostic(`killed in: ${last}`)
  }

  const { code, stderr } = await machine.skerry(...words)
  assert.equal(code, 0, stderr)
  const again = await machine.skerry(...words, '--json')
  assert.equal(again.code, 0, again.stderr)
  // Whatever died in the middle, each server is there once, as the one that is told.
  const { servers, cloud, ca, user, password } = JSON.parse(again.stdout) as {
    servers: { name: string; pid: number }[]
    cloud: string
    ca: string
    user: string
    password: string
  }
  assert.equal(servers.length, 8)
  assert.ok(servers.every(({ pid }) => pid > 0))
  // A part of PostgreSQL is called as the whole until it has its own name.
  const isEachOnce = async () => (await serversOf(host)).length === servers.length
  await until('each server is there once', isEachOnce, START_MS)

  // Of everything there is one: a host, an organisation, a user in it, a template.
  const configured = ['--config', '/var/lib/skerry/site/cloud/cloud.json', '--json']
  const rows = async (...asked: string[]) => {
    const { stdout } = await machine.skerry('cloud', ...asked, ...configured)
    return JSON.parse(stdout) as { name?: string; user?: string }[]
  }
  assert.equal((await rows('host', 'list')).length, 1)
  assert.deepEqual(
    (await rows('user', 'list', '--org', 'home')).map((row) => row.user),
    ['owner'],
  )
  assert.deepEqual(
    (await rows('template', 'list')).map(({ name }) => name),
    ['debian-12'],
  )
  // The password that is told is the one that counts.
  const login = ['-o', '/dev/null', '-w', '%{http_code}', '-X', 'POST', '-u', `${user}:${password}`]
  const accept = ['-H', 'Accept: application/*+xml;version=5.1', '--cacert', ca]
  const { stdout } = await host.run(['curl', '-sS', ...accept, ...login, `${cloud}/api/sessions`])
  assert.equal(stdout, '200')

  // One that is killed meanwhile is started again, and only that one.
  const cell = servers.find(({ name }) => name === 'cell')
  await host.run(['kill', '-9', String(cell?.pid)])
  const mended = await machine.skerry(...words)
  assert.equal(mended.code, 0, mended.stderr)
  assert.match(mended.stderr, /^step 1 of 2: starting the cloud$/m)

  // In the foreground that happens by itself, and Ctrl-C stops all of it.
  const child = machine.begin('up', '--foreground')
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, 'close')
  await until('it stays', () => said.includes('Ctrl-C stops it'), START_MS)
  const [egress] = await pidsOf(host, 'apps/egress/src/main.ts')
  assert.ok(egress)
  await host.run(['kill', '-9', egress])
  await until(
    'the one that was killed is there again',
    async () => {
      const [now] = await pidsOf(host, 'apps/egress/src/main.ts')
      return now !== undefined && now !== egress
    },
    START_MS,
  )
  child.kill('SIGINT')
  await ended
  assert.match(said, /^stopped PostgreSQL$/m)
  assert.deepEqual(await serversOf(host), [])
  assert.match((await machine.skerry('down')).stdout, /^nothing ran$/m)
})
