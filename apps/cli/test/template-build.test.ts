// Goal: a template build shows its progress, keeps the image with --keep, and leaves nothing half done.
// Method: fake programs that only print what the real ones print; tests/accept/cloud-init.test.ts runs the real ones.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonWithoutRoot } from '@skerry/lab'

import type { CliContext } from '../src/command.ts'
import { answer, skerry, startDaemon } from './terminal.ts'

const skip = reasonWithoutRoot('small', 'debian') ?? false

const said = [
  'running apt-get update...',
  'downloading packages with apt...',
  'extracting archives...',
]
const saidLater = [
  'installing essential packages...',
  'installing remaining packages inside the chroot...',
]

/** `fails`: the program that fails. */
const programs =
  (fails?: string): CliContext['runQuietly'] =>
  async (command, args, hear) => {
    if (command === fails) throw new Error(`${command} failed`)
    const last = args.at(-1) ?? ''
    if (command === 'mmdebstrap') {
      await mkdir(join(last, 'boot'), { recursive: true })
      for (const line of [...said, ...saidLater, 'cleaning package lists and apt cache...']) {
        hear?.(`I: ${line}`)
      }
    }
    if (command === 'qemu-img') await writeFile(last, 'the image')
  }

const daemonOf = () =>
  startDaemon((requested, reply) =>
    requested.startsWith('GET') ? answer(reply, 200, []) : answer(reply, 201, { name: 'default' }),
  )

test(
  'every step is printed, the image is kept, and only imported the second time',
  { skip },
  async () => {
    await using stack = new AsyncDisposableStack()
    const daemon = stack.use(await daemonOf())
    const directory = await mkdtemp(join(tmpdir(), 'build-'))
    stack.defer(() => rm(directory, { recursive: true, force: true }))
    const kept = join(directory, 'debian.qcow2')
    const machine = { uid: 0, path: '/usr/bin:/bin' }
    const build = ['template', 'build', '--keep', kept]

    const first = await skerry(daemon.url, build, { ...machine, runQuietly: programs() })
    assert.deepEqual(
      [first.code, first.out],
      [0, 'template default is ready: Debian 12\n'],
      first.err,
    )
    const steps = first.err.trimEnd().split('\n')
    assert.equal(steps.length, 9, first.err)
    for (const [at, step] of steps.entries()) {
      assert.ok(step.startsWith(`building Debian 12: step ${at + 1} of 9, `), step)
    }
    assert.equal(await readFile(kept, 'utf8'), 'the image')
    assert.equal(
      daemon.requested.at(-1),
      `POST /api/templates?default ${JSON.stringify({ file: kept })}`,
    )

    const second = await skerry(daemon.url, build, {
      ...machine,
      runQuietly: programs('mmdebstrap'),
    })
    assert.deepEqual(
      [second.code, second.err],
      [0, `using the existing ${kept}; delete it to build again\n`],
    )
    assert.deepEqual(await readdir(directory), ['debian.qcow2'])
  },
)

test('a build that fails leaves neither an image nor a directory', { skip }, async () => {
  await using stack = new AsyncDisposableStack()
  const daemon = stack.use(await daemonOf())
  const directory = await mkdtemp(join(tmpdir(), 'build-'))
  stack.defer(() => rm(directory, { recursive: true, force: true }))
  for (const program of ['mmdebstrap', 'mke2fs', 'qemu-img']) {
    const words = ['template', 'build', '--keep', join(directory, 'debian.qcow2')]
    const machine = { uid: 0, path: '/usr/bin:/bin', runQuietly: programs(program) }
    await assert.rejects(skerry(daemon.url, words, machine), new RegExp(`${program} failed`))
    assert.deepEqual(await readdir(directory), [])
  }
  assert.ok(daemon.requested.every((requested) => requested.startsWith('GET')))
})

test('a terminal shows the current step', { skip }, async () => {
  await using daemon = await daemonOf()
  const machine = { uid: 0, path: '/usr/bin:/bin', runQuietly: programs(), terminal: true }
  const { code, err, drawn } = await skerry(daemon.url, ['template', 'build'], machine)
  assert.deepEqual([code, err], [0, ''])
  assert.match(drawn, /building Debian 12: step \d of 9, [a-z]/)
})
