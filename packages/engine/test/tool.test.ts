import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'
import { until } from '@skerry/lab'

import { runTool, startTool } from '../src/host/tool.ts'
import { temporaryDirectory } from './temporary-directory.ts'

test('arguments reach the program unmodified, without a shell', async () => {
  const words = ['a b', '$(id)', '`id`', ';', '*', '', '-n', "'", '"', '\\', '\n', 'ü']
  const said = await runTool('printf', ['%s|', ...words])
  assert.equal(said, words.map((word) => `${word}|`).join(''))
})

test('a program does not inherit our environment', async () => {
  assert.deepEqual((await runTool('env', [])).trim().split('\n').sort(), [
    'LC_ALL=C.UTF-8',
    'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
  ])
})

test('the stderr of a failing program is in the cause', async () => {
  await assert.rejects(runTool('sh', ['-c', 'echo broken >&2; exit 3']), (fault) => {
    assert(fault instanceof Fault && fault.cause instanceof Error)
    assert.equal(fault.kind, 'unavailable')
    assert.equal(fault.message, 'sh failed')
    assert.match(fault.cause.message, /exited with 3: broken/)
    return true
  })
})

test('a missing program is named', async () => {
  for (const requested of [runTool('no-such-program', []), startTool('no-such-program', [])]) {
    await assert.rejects(requested, {
      kind: 'unavailable',
      message: 'the program no-such-program is not installed on this host',
    })
  }
})

test('a program that does not exit is killed', async () => {
  await using directory = await temporaryDirectory()
  const pid = directory.at('pid')
  const script = `echo $$ >${pid}; exec sleep 60`
  await assert.rejects(runTool('sh', ['-c', script], { timeoutMs: 2000 }), {
    kind: 'timed-out',
    message: 'sh did not finish in time',
  })
  const number = (await readFile(pid, 'utf8')).trim()
  await until('it should be gone', () => isGone(number))
})

test('the caller may abort', async () => {
  const given = new AbortController()
  const requested = runTool('sleep', ['60'], { signal: given.signal })
  given.abort()
  await assert.rejects(requested, { kind: 'unavailable' })
})

test('a flood of output is cut at 1 MiB and does not block the program', async () => {
  const said = await runTool('head', ['-c', '3000000', '/dev/zero'])
  assert(said.length > 500_000 && said.length <= 1024 * 1024, `${said.length} bytes were kept`)
})

test('limits hold: a program that uses too much memory or time is killed', async () => {
  const limits = { cpuSeconds: 1, memoryBytes: 256 * 1024 ** 2 }
  // tail keeps the last line in memory, and /dev/zero is one endless line.
  await assert.rejects(runTool('tail', ['/dev/zero'], { limits }), { kind: 'unavailable' })
  // One second of processor time is many seconds on a busy machine. The time limit would be another kind of fault.
  const patient = { limits, timeoutMs: 120_000 }
  await assert.rejects(runTool('sh', ['-c', 'while :; do :; done'], patient), {
    kind: 'unavailable',
  })
  assert.equal(await runTool('echo', ['fits'], { limits }), 'fits\n')
})

test('a started program outlives us', async () => {
  const pid = await startTool('sleep', ['60'])
  try {
    const status = await readFile(`/proc/${pid}/stat`, 'utf8')
    const [, , , session] = status.slice(status.lastIndexOf(')') + 2).split(' ')
    assert.equal(Number(session), pid, 'it has a session of its own')
  } finally {
    process.kill(pid, 'SIGKILL')
  }
})

/** A zombie process counts as gone. */
async function isGone(pid: string): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return status === undefined || / Z /.test(status)
}
