// Goal: after a kill at any point skerry up continues where it was, creates nothing twice and leaves nothing behind. Method: on a
// lab machine with real backends, kill -9 within a random step, repeatedly, each time further on; then one complete run.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { guestImage, reasonToSkip, reasonWithoutTemporal, startHost, until } from '@skerry/lab'

import { seededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import { onMachine, pidsOf, serversOf } from './up/machine.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const KILLS = 5
/** The maximum number of steps before the next kill. */
const STEPS_MAX = 5
const WITHIN_MS = 700
const START_MS = 240_000

test('skerry up is killed at random and continues where it was', { skip }, async (t) => {
  const seed = Number(process.env['SKERRY_SEED'] ?? Date.now() % 1_000_000)
  t.diagnostic(`SKERRY_SEED=${seed}`)
  const dice = seededRandom(seed)
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
    // It may complete first.
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
  // After any crash, each server runs once, as the one that is reported.
  const { servers, cloud, ca, user, password } = JSON.parse(again.stdout) as {
    servers: { name: string; pid: number }[]
    cloud: string
    ca: string
    user: string
    password: string
  }
  assert.equal(servers.length, 9)
  assert.ok(servers.every(({ pid }) => pid > 0))
  // A child process of PostgreSQL has the parent's name until it sets its own.
  const isEachOnce = async () => (await serversOf(host)).length === servers.length
  await until('each server runs once', isEachOnce, START_MS)

  // There is one of everything: a host, an organisation, a user in it, a template.
  const configured = ['--config', '/var/lib/skerry/site/cloud/cloud.json', '--json']
  const rows = async (...requested: string[]) => {
    const { stdout } = await machine.skerry('admin', ...requested, ...configured)
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
  // The printed password is the valid one.
  const login = ['-o', '/dev/null', '-w', '%{http_code}', '-X', 'POST', '-u', `${user}:${password}`]
  const accept = ['-H', 'Accept: application/*+xml;version=5.1', '--cacert', ca]
  const { stdout } = await host.run(['curl', '-sS', ...accept, ...login, `${cloud}/api/sessions`])
  assert.equal(stdout, '200')

  // A killed server is restarted, and only that one.
  const cell = servers.find(({ name }) => name === 'cell')
  await host.run(['kill', '-9', String(cell?.pid)])
  const repaired = await machine.skerry(...words)
  assert.equal(repaired.code, 0, repaired.stderr)
  assert.match(repaired.stderr, /^step 1 of 2: starting the cloud$/m)

  // In the foreground that happens by itself, and Ctrl-C stops all of it.
  const child = machine.begin('up', '--foreground')
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, 'close')
  await until('it stays', () => said.includes('Ctrl-C stops them'), START_MS)
  const [egress] = await pidsOf(host, 'apps/egress/src/main.ts')
  assert.ok(egress)
  await host.run(['kill', '-9', egress])
  await until(
    'the killed one runs again',
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
  assert.match((await machine.skerry('down')).stdout, /^no server was running$/m)
  // The users that were created for it are removed with it.
  assert.match((await machine.skerry('down', '--forget', '--yes')).stdout, / deleted$/m)
})
