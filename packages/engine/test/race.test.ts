// Goal: a guest sees exactly the directory that was checked, even if its name changes meanwhile.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { temporaryDirectory } from './temporary-directory.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root: it mounts in a namespace of its own'
const run = promisify(execFile)
const RACE_MS = 1500

const races = {
  'the folder itself': '',
  'a directory above the folder': 'inside',
} as const

for (const [what, below] of Object.entries(races)) {
  test(
    `${what} is swapped for a link to a barred directory, which is never shown`,
    { skip },
    async (t) => {
      await using directory = await temporaryDirectory()
      const { stdout } = await run('unshare', [
        '--mount',
        '--propagation',
        'private',
        process.execPath,
        `${import.meta.dirname}/race-process.ts`,
        directory.path,
        below,
        String(RACE_MS),
      ])
      const seen = JSON.parse(stdout) as { shown: number; refused: number; secret: number }
      t.diagnostic(stdout)
      assert.equal(seen.secret, 0)
      assert(seen.shown > 0 && seen.refused > 0, `it was not a race: ${stdout}`)
    },
  )
}
