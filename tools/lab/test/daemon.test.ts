// Goal: a server is found from the moment it is started, also while it becomes one program after the other.
// Method: a chain of programs that do nothing but become the next one, looked at as often as the processor allows.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { findEngines, startDaemon } from '../src/daemon.ts'
import { isAlive } from '../src/processes.ts'

const PROGRAMS = 200

test('a server is found while it becomes another program, and not when it has ended', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'daemon-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const chain = Array.from({ length: PROGRAMS }, () => ['env', '--']).flat()
  const child = startDaemon({
    ...{ dir, log: join(dir, 'log'), outlives: true },
    command: [...chain, 'true'],
  })
  const ended = once(child, 'exit')
  let looks = 0
  // Whether it is alive is asked after the look: one that ended in between proves nothing.
  for (;;) {
    const found = findEngines((other) => other === dir)
    if (!isAlive(child.pid)) break
    assert.deepEqual(found, [child.pid], `at look ${looks}`)
    looks++
  }
  assert.ok(looks > 10, `looked ${looks} times`)
  await ended
  assert.deepEqual(
    findEngines((other) => other === dir),
    [],
  )
})
