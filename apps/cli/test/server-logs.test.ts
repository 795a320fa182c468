// Goal: the logs of a site's servers stay small and end with the last output. Method: real processes, one of which floods its log.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '@skerry/lab'

import { startDetached, startReader } from '../src/machine/child.ts'
import { BoundedLog } from '../src/up/servers/bounded-log.ts'
import { ServerLogs } from '../src/up/servers/server-logs.ts'
import { settle } from '../src/up/site/site-plan.ts'
import { files, siteOf } from '../src/up/site/site.ts'

const MIB = 1024 ** 2
const env = { PATH: '/usr/bin:/bin' }
const ports = {
  cloud: 1,
  console: 2,
  machines: 3,
  hostApi: 4,
  workflow: 5,
  workflowMachines: 8,
  network: 9,
  temporal: 6,
  postgres: 7,
}
const machine = {
  ports,
  programs: { server: '/t/server', sql: '/t/sql' },
  bin: '/pg/bin',
  ovn: true,
}

async function untilEndsWith(file: string, words: string): Promise<void> {
  const ends = async () => (await readFile(file, 'utf8').catch(() => '')).endsWith(words)
  await until(`${file} ends with ${words}`, ends, 60_000)
}

test('a flooded log is rotated: a current and a previous file, at most 10 MiB each', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'server-logs-'))
  const { servers } = siteOf(dir.path, settle({}, machine), '/usr/bin/node')
  await mkdir(files(dir.path).logs)
  const logs = new ServerLogs(servers)
  const [flood, quiet] = servers
  assert.ok(flood && quiet)
  const says = (script: string) => ['sh', '-c', script]
  const much = 'yes 0123456789abcdef | head -c 45000000; echo last words >&2'
  startDetached(says(much), { output: logs.of(flood), env })
  startDetached(says('echo one'), { output: logs.of(quiet), env })
  await untilEndsWith(flood.log, 'last words\n')
  await untilEndsWith(quiet.log, 'one\n')
  for (const file of [flood.log, `${flood.log}.1`]) {
    const { size, mode } = await stat(file)
    assert.ok(size <= 10 * MIB, `${file}: ${size}`)
    assert.equal(mode & 0o777, 0o600)
  }
  assert.ok((await stat(`${flood.log}.1`)).size > 9 * MIB)
  // A restarted server continues the same file.
  startDetached(says('echo two'), { output: logs.of(quiet), env })
  await untilEndsWith(quiet.log, 'one\ntwo\n')
  const kept = await readdir(files(dir.path).logs)
  assert.equal(kept.filter((name) => name.includes('.log.')).length, 1)
})

test('a full disk loses lines of one log, and the writer goes on with the others', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'server-logs-'))
  const file = join(dir.path, 'log')
  const writer = join(import.meta.dirname, '../src/up/servers/log-writer.ts')
  const [full, other] = startReader([process.execPath, writer, '1000', '/dev/full', file], 2)
  assert.ok(full && other)
  full.end('lost\n')
  await once(full, 'close')
  other.end('kept\n')
  await untilEndsWith(file, 'kept\n')
})

test('a program that cannot be started is reported', async () => {
  const [output] = startReader(['sleep', '5'], 1)
  assert.ok(output)
  assert.throws(() => startDetached(['/no/such/program'], { output, env }), /did not start/)
  assert.throws(() => startReader(['/no/such/program'], 1), /did not start/)
  // The event that an unstarted program emits comes later.
  await sleep(0)
})

test('a log is appended to, and rotation loses only what was before the previous file', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'bounded-log-'))
  const file = join(dir.path, 'log')
  await writeFile(file, 'aaaa')
  const [one, other] = [new BoundedLog(file, 10), new BoundedLog(file, 10)]
  one.write(Buffer.from('bbbb'))
  one.write(Buffer.from('cccc'))
  // Two writers of one file: the second detects the rotation.
  other.write(Buffer.from('dddd'))
  assert.equal(await readFile(`${file}.1`, 'utf8'), 'aaaabbbb')
  assert.equal(await readFile(file, 'utf8'), 'ccccdddd')
  one.write(Buffer.from('e'.repeat(25)))
  assert.deepEqual((await readdir(dir.path)).sort(), ['log', 'log.1'])
  assert.ok((await stat(file)).size <= 10)
  one.close()
  other.close()
})
