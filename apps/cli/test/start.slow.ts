// Goal: skerry starts quickly with a compile cache, which it uses only in a directory that no other user can write to.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const SKERRY = join(import.meta.dirname, '../bin/skerry')
const ROUNDS = 5
const GOAL = 0.6

/** CPU seconds of a start, of the program alone. */
function startSeconds(env: Readonly<Record<string, string>>): number {
  const { NODE_COMPILE_CACHE: _, ...outer } = process.env
  const script = 'skerry version >/dev/null; times'.replace('skerry', SKERRY)
  const said = execFileSync('bash', ['-c', script], { encoding: 'utf8', env: { ...outer, ...env } })
  const [, children = ''] = said.split('\n')
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds),
    0,
  )
}

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[2] ?? NaN

test('a start with the compile cache takes less than 0.6 of the CPU time of one without', (t) => {
  startSeconds({})
  const kept: number[] = []
  const fresh: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    kept.push(startSeconds({}))
    fresh.push(startSeconds({ NODE_DISABLE_COMPILE_CACHE: '1' }))
  }
  t.diagnostic(`${median(kept)} s with kept code, ${median(fresh)} s without`)
  assert.ok(median(kept) < median(fresh) * GOAL, `${kept.join(' ')} and ${fresh.join(' ')}`)
})

test('the compile cache is in the home directory, writable only by the user', () => {
  startSeconds({ HOME: '/nonexistent', XDG_CACHE_HOME: '/nonexistent' })
  const { homedir, uid } = userInfo()
  const found = statSync(join(homedir, '.cache/skerry/compiled'))
  assert.equal(found.uid, uid)
  assert.equal(found.mode & 0o077, 0)
})
