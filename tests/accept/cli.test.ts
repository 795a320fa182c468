// Goal: `skerry` works as its help describes, on a host with vmd and a real guest. Method: the commands of docs/tutorials/first-vm.md
// in order, each run as a user would; output and exit code are checked.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { guestImage, reasonToSkip, startHost, until, type LabHost, type Outcome } from '@skerry/lab'

const skip = reasonToSkip('host', 'small') ?? false
const BOOT_MS = 120_000
const PROGRAM = join(import.meta.dirname, '../../apps/cli/bin/skerry')

let dir: string
let host: LabHost

const skerry = (...words: readonly string[]): Promise<Outcome> => host.run([PROGRAM, ...words])

/** Runs it and returns its output; fails unless it succeeds. */
async function done(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await skerry(...words)
  assert.equal(code, 0, `skerry ${words.join(' ')}: ${stderr}`)
  return stdout
}

const json = async (...words: readonly string[]): Promise<unknown> =>
  JSON.parse(await done(...words, '--json'))

async function refuses(words: readonly string[], code: number, ...lines: readonly RegExp[]) {
  const ended = await skerry(...words)
  assert.equal(ended.code, code, `skerry ${words.join(' ')}: ${ended.stdout}${ended.stderr}`)
  const [first = '', second = ''] = ended.stderr.split('\n')
  const [message = /./, next = /^/] = lines
  assert.match(first, message)
  assert.match(second, next)
}

suite('the command line, with a daemon and a guest', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'cli-'))
    host = await startHost({ dir: join(dir, 'host') })
  })
  after(async () => {
    await host[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  test('without a daemon the error says how to start one', async () => {
    await refuses(
      ['list'],
      3,
      /^skerry: vmd does not answer at http:\/\/127\.0\.0\.1:8080$/,
      /^next: start it in another terminal: sudo skerry vmd$/,
    )
    const { code, stdout } = await skerry('doctor')
    assert.equal(code, 1)
    assert.match(stdout, /^fail +vmd /m)
    assert.match(stdout, /^ok +libvirt /m)
  })

  test('vmd is started by it, and exits on a signal', async () => {
    const script = `echo $$ && exec ${PROGRAM} vmd`
    const child = host.spawn(['sh', '-c', script], { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await until('vmd answers', () => said.includes('vmd answers at'), BOOT_MS)
    await refuses(['create', 'my-vm'], 1, /template default not found/, /skerry template/)
    await host.run(['kill', '-TERM', /^\d+$/m.exec(said)?.[0] ?? ''])
    await until('it has ended', () => child.exitCode !== null, BOOT_MS)
    assert.equal(child.exitCode, 0, said)
    await host.startVmd()
  })

  test('a template is imported, and listed', async () => {
    assert.match(
      await done('template', 'import', await guestImage('small'), '--default'),
      /^template default is ready\n$/,
    )
    assert.match(
      await done('template', 'list'),
      /^NAME +DISK +FILE +DIGEST\ndefault +[\d.]+ MiB +[\d.]+ MiB +\S+\n$/,
    )
    const [template] = (await json('template', 'list')) as { name: string }[]
    assert.equal(template?.name, 'default')
    const { stdout } = await skerry('doctor', '--json')
    const points = JSON.parse(stdout) as { check: string; state: string }[]
    const failing = points.filter(({ state }) => state === 'fail')
    assert.deepEqual(failing, [])
  })

  test('a VM is created, listed in the table, and started', async () => {
    const made = ['create', 'my-vm', '--name', 'Mine', '--tag', 'first', '--memory', '256M']
    assert.equal(await done(...made), 'my-vm is created\n')
    assert.match(
      await done('list'),
      /^ID +NAME +STATE +ADDRESS +CPUS +MEMORY +DISK +TAG\nmy-vm +Mine +powered off +- +1 +256 MiB +\S+ \S+ +first\n$/,
    )
    assert.equal(await done('start', 'my-vm'), 'my-vm is powered on\n')
    const [row] = (await json('list')) as { id: string; state: string; memoryMiB: number }[]
    assert.deepEqual([row?.id, row?.state, row?.memoryMiB], ['my-vm', 'powered on', 256])
    assert.equal(await done('list', '--quiet', '--state', 'powered off'), '')
    assert.equal(await done('list', '--quiet', '--tag', 'first'), 'my-vm\n')
    assert.match(await done('info', 'my-vm'), /^state +powered on$/m)
  })

  test('its address is waited for, and ssh connects to it', async () => {
    const address = (await done('address', 'my-vm', '--wait')).trim()
    assert.match(address, /^\d+\.\d+\.\d+\.\d+$/)
    assert.deepEqual(await json('address', 'my-vm'), { code: 200, message: address })
    const command = await done('ssh', 'my-vm', '--print')
    assert.ok(command.endsWith(`@${address}\n`), command)
    assert.match(await done('list'), new RegExp(`powered on +${address.replaceAll('.', '\\.')} `))
  })

  test('a program runs in the guest, and skerry returns its exit code', async () => {
    await until('the agent answers', async () => (await echo('here')) === 'here\n', BOOT_MS)
    const { code, stdout, stderr } = await skerry(
      'exec',
      'my-vm',
      '--',
      '/bin/sh',
      '-c',
      'echo said; echo but >&2; exit 3',
    )
    assert.deepEqual([code, stdout, stderr], [3, 'said\n', 'but\n'])
    // The agent answers before the guest reports that it is up and its SSH server runs.
    await until(
      'the guest is up',
      async () => /guest up in/.test(await done('logs', 'my-vm')),
      BOOT_MS,
    )
  })

  const echo = async (word: string) =>
    (await skerry('exec', 'my-vm', '--', '/bin/echo', word)).stdout

  test('a directory is shared, visible in the guest, and removed', async () => {
    const shared = join(dir, 'shared')
    await mkdir(shared)
    await writeFile(join(shared, 'hello'), 'from the host')
    assert.equal(
      await done('share', 'add', 'my-vm', 'docs', shared),
      `${shared} is /mnt/shares/docs in my-vm\n`,
    )
    const cat = ['exec', 'my-vm', '--', '/bin/cat', '/mnt/shares/docs/hello']
    await until(
      'it is seen',
      async () => (await skerry(...cat)).stdout === 'from the host',
      BOOT_MS,
    )
    assert.match(
      await done('share', 'list', 'my-vm'),
      /^NAME +IN THE GUEST +ON THE HOST +ACCESS\ndocs +\/mnt\/shares\/docs +\S+ +read and write\n$/,
    )
    await done('share', 'rm', 'my-vm', 'docs')
    assert.deepEqual(await json('share', 'list', 'my-vm'), [])
  })

  test('a port of the host is forwarded to the guest until it is removed', async () => {
    assert.equal(
      await done('forward', 'add', 'my-vm', '8022:22'),
      '127.0.0.1:8022 forwards to port 22 of my-vm\n',
    )
    assert.match(
      await done('forward', 'list', 'my-vm'),
      /^ON THE HOST +IN THE GUEST +PROTOCOL +LISTENING\n127\.0\.0\.1:8022 +22 +tcp +yes\n$/,
    )
    const greeting = ['bash', '-c', 'head -c 4 < /dev/tcp/127.0.0.1/8022']
    const isGreeted = async () => (await host.run(greeting)).stdout === 'SSH-'
    await until('the guest answers at the port', isGreeted, BOOT_MS)
    await done('forward', 'rm', 'my-vm', '8022')
    assert.deepEqual(await json('forward', 'list', 'my-vm'), [])
  })

  test('a snapshot is taken, reverted to, and deleted', async () => {
    await refuses(['rm', 'my-vm'], 1, /is on; it can be deleted only when off/, /^next: power VM/)
    assert.equal(await done('stop', 'my-vm'), 'my-vm is powered off\n')
    assert.equal(
      await done('snapshot', 'create', 'my-vm', 'clean'),
      'snapshot clean of my-vm is taken\n',
    )
    assert.match(
      await done('snapshot', 'list', 'my-vm'),
      /^NAME +CREATED +CONTENT +CURRENT\nclean +20\S+ +disk +yes\n$/,
    )
    assert.match(await done('snapshot', 'revert', 'my-vm', 'clean'), /powered off\n$/)
    await done('snapshot', 'rm', 'my-vm', 'clean')
    assert.deepEqual(await json('snapshot', 'list', 'my-vm'), [])
  })

  test('a VM is cloned, and VMs are deleted, one of them while running', async () => {
    assert.equal(await done('clone', 'my-vm', 'other'), 'other is created from my-vm\n')
    await done('set', 'other', '--cpus', '2', '--tag', 'second')
    assert.match(await done('list'), /^other +other +powered off +- +2 .* second$/m)
    await done('start', 'other')
    assert.equal(
      await done('rm', 'my-vm', 'other', '--force'),
      'my-vm is deleted\nother is deleted\n',
    )
    assert.deepEqual(await json('list'), [])
    assert.match((await skerry('list')).stderr, /^no VMs yet; create one: skerry create my-vm$/m)
  })

  test('an unknown command is an error with a suggestion', async () => {
    await refuses(
      ['sart', 'x'],
      2,
      /^skerry: there is no command sart$/,
      /did you mean skerry start/,
    )
    await refuses(['start'], 2, /^skerry: VM is missing$/, /^next: usage: skerry start VM/)
    await refuses(['start', 'nobody'], 1, /^skerry: there is no VM nobody$/)
    assert.match(await done('version'), /^skerry \d+\.\d+\.\d+\n$/)
  })

  test('past events are printed from the first one on', async () => {
    const reported = await done('event', 'follow', '--since', '0', '--count', '3', '--json')
    const events = reported
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: number; type: string })
    assert.deepEqual(
      events.map(({ id }) => id),
      [1, 2, 3],
    )
  })
})
