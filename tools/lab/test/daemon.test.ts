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
const LOOKS = 20

test('a server is found while it becomes another program, and not when it has ended', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'daemon-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const chain = Array.from({ length: PROGRAMS }, () => ['env', '--']).flat()
  let looks = 0
  // A busy machine may look a few times only before a chain is through: then another is begun.
  while (looks <= LOOKS) {
    const child = startDaemon({
      ...{ dir, log: join(dir, 'log'), outlives: true },
      command: [...chain, 'true'],
    })
    const ended = once(child, 'exit')
    // Whether it is alive is asked after the look: one that ended in between proves nothing.
    for (;;) {
      const found = findEngines((other) => other === dir)
      if (!isAlive(child.pid)) break
      assert.deepEqual(found, [child.pid], `at look ${looks}`)
      looks++
    }
    await ended
  }
  assert.deepEqual(
    findEngines((other) => other === dir),
    [],
  )
})
