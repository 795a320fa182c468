// Goal: no test file is forgotten. Method: the job table of CI and the npm scripts are compared with the existing files.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { test } from 'node:test'

import { allJobs, readDurations, testFiles, traits } from '../tools/ci/jobs.ts'

const root = join(import.meta.dirname, '..')
/** Found by walking, not by the pattern of CI. */
const files = ['apps', 'packages', 'tests', 'tools']
  .flatMap((top) =>
    readdirSync(join(root, top), { recursive: true, encoding: 'utf8' }).map((name) =>
      join(top, name),
    ),
  )
  .filter((file) => /\.(test|slow)\.ts$/.test(file) && !file.includes('node_modules'))
  .sort()
const jobs = allJobs(root)

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
}
/** The patterns of scripts: globs by tools/run-tests.ts, regular expressions by tools/ci.ts. */
const patterns = Object.entries(scripts).flatMap(([name, line]) => {
  const quoted = [...line.matchAll(/'([^']+)'/g)].map(([, pattern = '']) => pattern)
  const matches = line.includes('tools/ci.ts --only')
    ? (file: string, pattern: string) => new RegExp(pattern).test(file)
    : matchesGlob
  const runsTests = /tools\/(run-tests|ci)\.ts/.test(line)
  return runsTests ? quoted.map((pattern) => ({ name, pattern, matches })) : []
})

test('CI runs every test file once', () => {
  assert.ok(files.length > 250)
  assert.deepEqual(jobs.flatMap((job) => job.files).sort(), files)
  assert.deepEqual(testFiles(root), files)
})

test('every test file belongs to an npm script', () => {
  const isRun = (file: string) => patterns.some(({ pattern, matches }) => matches(file, pattern))
  assert.deepEqual(
    files.filter((file) => !isRun(file)),
    [],
  )
})

for (const { name, pattern, matches } of patterns) {
  test(`npm run ${name}: ${pattern} matches a test file`, () => {
    assert.ok(files.some((file) => matches(file, pattern)))
  })
}

test('every trait of the table matches a test file, and every need is a job', () => {
  const unused = traits.filter(
    ({ files: pattern }) =>
      pattern !== undefined && !files.some((file) => matchesGlob(file, pattern)),
  )
  assert.deepEqual(unused, [])
  const names = new Set(jobs.map(({ name }) => name))
  for (const { name, needs } of jobs)
    assert.deepEqual([name, needs.filter((each) => !names.has(each))], [name, []])
})

test('durations are of existing files and jobs', () => {
  const known = new Set([...files, ...jobs.map(({ name }) => name)])
  assert.deepEqual(
    Object.keys(readDurations(root)).filter((name) => !known.has(name)),
    [],
  )
})

test('tests that start a workflow server of a lab or Temporal, or add users, are marked as such', () => {
  const jobOf = (file: string) => jobs.find((job) => job.files.includes(file))
  for (const name of ['workflow', 'workflow-docs', 'clients', 'metrics'])
    assert.ok(jobOf(`tests/accept/${name}.test.ts`)?.locks.includes('8281'), name)
  for (const name of ['up', 'up-kills', 'up-second-host'])
    assert.ok(jobOf(`tests/accept/${name}.test.ts`)?.locks.includes('users'), name)
  assert.deepEqual(jobOf('tests/accept/cloud.test.ts')?.needs, ['setup:temporal', 'build:web'])
  assert.deepEqual(jobOf('tests/accept/local.test.ts')?.needs, ['build:web'])
  assert.deepEqual(jobOf('apps/cloud/test/query-fuzz.test.ts')?.needs, [])
  assert.ok(jobOf('tests/accept/clients.test.ts')?.needs.includes('setup:clients'))
  assert.ok(jobOf('tests/accept/tofu.test.ts')?.needs.includes('setup:tofu'))
})
