// Goal: a server is found from the moment it is started, also while it executes one program after the other. Method: a chain of
// programs that only execute the next one, checked as often as the CPU allows.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { findEngines, startDaemon } from '../src/servers/daemon.ts'
import { isAlive } from '../src/system/processes.ts'

const PROGRAMS = 200
const LOOKS = 20

test('a server is found while it executes another program, and not after it has ended', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'daemon-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  const chain = Array.from({ length: PROGRAMS }, () => ['env', '--']).flat()
  let looks = 0
  // A busy machine may check only a few times before a chain ends: then another chain starts.
  while (looks <= LOOKS) {
    const child = startDaemon({
      dir,
      log: join(dir, 'log'),
      outlives: true,
      command: [...chain, 'true'],
    })
    const ended = once(child, 'exit')
    // Check whether it is alive after the look: one that ended in between proves nothing.
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
