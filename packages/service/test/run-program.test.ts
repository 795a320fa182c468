// Goal: every program starts, logs, stops and fails in the same way. Method: a small server as a real process.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { glob, mkdtemp, mkdtempDisposable, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { until } from '@skerry/lab'

const PROGRAM = join(import.meta.dirname, 'sample-program.ts')

const start = (...args: string[]) => startIn({}, ...args)

function startIn(env: NodeJS.ProcessEnv, ...args: string[]) {
  const program = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  })
  const ended = Promise.all([text(program.stdout), text(program.stderr), once(program, 'exit')])
  return {
    program,
    ended: ended.then(([out, err, [code, signal]]) => ({ out, err, code, signal })),
  }
}

test('--help prints the usage', async () => {
  const { out, err, code } = await start('--help').ended
  assert.deepEqual(
    { out, err, code },
    { out: 'usage: sample [--file FILE] [--fail KIND]\n', err: '', code: 0 },
  )
})

test('misuse exits with 2 and the usage, a fault with 1 and what to do next', async () => {
  const misuse = await start('--nothing').ended
  assert.match(misuse.err, /^skerry sample: Unknown option '--nothing'[^]*\nusage: sample /)
  assert.equal(misuse.code, 2)
  const says = 'skerry sample: no\nnext: try again\n'
  const invalid = await start('--fail', 'invalid').ended
  assert.deepEqual([invalid.code, invalid.err], [2, says])
  const fault = await start('--fail', 'unavailable').ended
  assert.deepEqual([fault.code, fault.err], [1, says])
})

test('a bug exits with its stack', async () => {
  const { code, err } = await start('--fail', 'bug').ended
  assert.equal(code, 1)
  assert.match(err, /Error: a bug\n +at /)
})

test('a stop that fails ends the process too', async () => {
  const { program, ended } = start('--fail-stop')
  await once(program.stderr, 'data')
  program.kill('SIGTERM')
  const { code, signal, err } = await ended
  assert.deepEqual([code, signal], [1, null])
  assert.match(err, /skerry sample: the stop failed\n$/)
})

test('a server stops in order, also if it is signalled twice, and its files are private', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'run-program-'))
  try {
    const file = join(dir, 'file')
    const { program, ended } = start('--file', file)
    await once(program.stderr, 'data')
    assert.equal((await stat(file)).mode & 0o777, 0o600)
    program.kill('SIGINT')
    await once(program.stderr, 'data')
    program.kill('SIGINT')
    const { code, signal, err } = await ended
    assert.deepEqual([code, signal], [0, null])
    const time = new Date(0).toISOString()
    assert.equal(err, `${time} it serves: a\\nb\n${time} it stops\n`)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})

test('a server that is killed has kept its compiled code for the next start', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'run-program-'))
  const { program, ended } = startIn({ NODE_COMPILE_CACHE: dir.path })
  const kept = async () => (await Array.fromAsync(glob('*/*', { cwd: dir.path }))).length > 10
  await until('the compiled code should be kept', kept, 60_000, 200)
  program.kill('SIGKILL')
  assert.equal((await ended).signal, 'SIGKILL')
})
