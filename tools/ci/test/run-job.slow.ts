// Goal: results of a job are counted correctly, and nothing of a killed job remains. Method: small jobs, run as CI runs them.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { until } from '@skerry/lab'

import { runAll, sumOf } from '../run-all.ts'
import { limitOf, runJob } from '../run-job.ts'
import type { Job } from '../schedule.ts'

/** A process that ends by itself needs some time for it on a busy machine. */
const EXIT_SECONDS = '5'
const RUN_TESTS = join(import.meta.dirname, '../../run-tests.ts')

const job = (command: readonly string[], more: Partial<Job> = {}): Job => ({
  name: 'job',
  command,
  files: [],
  seconds: 1,
  weight: 1,
  isQuiet: false,
  locks: [],
  needs: [],
  ...more,
})

async function place() {
  const directory = await mkdtempDisposable(join(tmpdir(), 'ci-test-'))
  const root = directory.path
  // These tests run in a test runner themselves, which a nested runner would detect.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const options = { root, scratch: root, env, signal: new AbortController().signal }
  const testJob = async (name: string, text: string) => {
    const head = "const { test } = require('node:test'), assert = require('node:assert')\n"
    await writeFile(join(root, name), head + text)
    const command = [process.execPath, RUN_TESTS, '--serial', name]
    return job(command, { name, files: [name] })
  }
  return {
    root,
    options,
    testJob,
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  }
}

const GOOD = `test('one', () => undefined); test('two', () => undefined)`

test('counts and seconds come from the runner', async () => {
  await using at = await place()
  const good = await runJob(await at.testJob('good.test.cjs', GOOD), at.options)
  assert.deepEqual(good.counts, { passed: 2, failed: 0, skipped: 0 }, good.output)
  assert.equal(good.trouble, undefined)
  assert.deepEqual(Object.keys(good.fileSeconds), ['good.test.cjs'])
  const mixed = `${GOOD}; test('3', () => assert(false)); test('4', { skip: true }, () => 1)
    console.log('7 passed, 0 failed, 0 skipped')`
  const bad = await runJob(await at.testJob('bad.test.cjs', mixed), at.options)
  assert.deepEqual(bad.counts, { passed: 2, failed: 1, skipped: 1 })
})

test('a failed test is reported with the messages of its error and of the causes', async () => {
  await using at = await place()
  const text = `test('outer', (t) => t.test('inner', () => {
    throw new Error('above ' + 'x'.repeat(5000), { cause: new Error('below') })
  }))`
  const { failures } = await runJob(await at.testJob('bad.test.cjs', text), at.options)
  assert.deepEqual(
    failures.map(({ test }) => test),
    ['inner'],
  )
  assert.match(failures[0]?.why ?? '', /^above x+ … x+\ncaused by: below$/)
})

test('a file that crashes or has no tests counts as failed', async () => {
  await using at = await place()
  const died = await at.testJob('died.test.cjs', `${GOOD}; process.kill(process.pid, 'SIGKILL')`)
  assert.equal((await runJob(died, at.options)).counts.failed, 1)
  const empty = await runJob(await at.testJob('empty.test.cjs', ''), at.options)
  assert.ok(empty.counts.failed + empty.counts.passed === 1, JSON.stringify(empty.counts))
  const missing = { ...(await at.testJob('x.test.cjs', GOOD)), command: ['no-such-program'] }
  const { counts, trouble } = await runJob(missing, at.options)
  assert.equal(counts.failed, 1)
  assert.match(trouble ?? '', /did not start/)
})

test('a successful check does not count as a test, a failed one counts as a failed test', async () => {
  await using at = await place()
  assert.deepEqual((await runJob(job(['true']), at.options)).counts, {
    passed: 0,
    failed: 0,
    skipped: 0,
  })
  const bad = await runJob(job(['sh', '-c', 'echo said; exit 3']), at.options)
  assert.deepEqual(bad.counts, { passed: 0, failed: 1, skipped: 0 })
  assert.deepEqual([bad.trouble, bad.output], ['ended with 3', 'said\n'])
})

test('killing a job also kills processes that left its process group', async () => {
  await using at = await place()
  const stop = new AbortController()
  const file = join(at.root, 'pid')
  const script = `setsid sleep 1000 & echo $! >pid.new; mv pid.new pid; wait`
  const running = runJob(job(['sh', '-c', script]), { ...at.options, signal: stop.signal })
  await until('the job should run', () => existsSync(file))
  const pid = Number(await readFile(file, 'utf8'))
  stop.abort()
  const { counts, trouble } = await running
  assert.equal(counts.failed, 1)
  assert.match(trouble ?? '', /^killed/)
  await until('its server should end', () => !existsSync(`/proc/${pid}`))
})

test('a killed job may clean up, also when its first process has ended', async () => {
  await using at = await place()
  const stop = new AbortController()
  const cleans = `trap 'sleep 0.3; touch cleaned' EXIT; trap exit TERM; touch runs; while true; do sleep 0.1; done`
  await writeFile(join(at.root, 'cleans.sh'), cleans)
  const running = runJob(job(['sh', '-c', 'bash cleans.sh & wait']), {
    ...at.options,
    signal: stop.signal,
  })
  await until('the job should run', () => existsSync(join(at.root, 'runs')))
  stop.abort()
  await running
  assert.ok(existsSync(join(at.root, 'cleaned')))
})

test('a time limit is six times the estimate, and never less than five minutes', () => {
  assert.equal(limitOf(job(['true'], { seconds: 10 })), 300)
  assert.equal(limitOf(job(['true'], { seconds: 400 })), 2400)
})

test('a job that exceeds its time limit is ended and failed with its output, and the next ones run', async () => {
  await using at = await place()
  const printed: string[] = []
  const hangs = job(['sh', '-c', 'echo started; sleep 1000'], { name: 'hangs', seconds: 5 })
  const outcomes = await runAll([hangs, job(['touch', 'ran'], { name: 'next' })], {
    ...at.options,
    limitOf: ({ seconds }) => seconds,
    print: (line) => void printed.push(line),
  })
  assert.deepEqual(sumOf(outcomes), { passed: 0, failed: 1, skipped: 0 })
  assert.match(printed.join('\n'), /== hangs: [\d.]+ s, killed after 5 s, its time limit\nstarted/)
  assert.ok(existsSync(join(at.root, 'ran')))
})

test('a file whose tests have ended and whose process has not is ended and failed; the next file runs', async () => {
  await using at = await place()
  const server = `require('node:fs').writeFileSync('pid', String(process.pid)); setInterval(() => undefined, 1000)`
  const stays = await at.testJob('a-stays.test.cjs', `${GOOD}; ${server}`)
  await at.testJob('b-next.test.cjs', GOOD)
  const [program = '', ...words] = stays.command
  const outcome = await runJob(
    { ...stays, command: [program, ...words, 'b-next.test.cjs', '--exit-within', EXIT_SECONDS] },
    at.options,
  )
  assert.deepEqual(outcome.counts, { passed: 4, failed: 1, skipped: 0 }, outcome.output)
  assert.match(outcome.output, /a-stays\.test\.cjs: its tests ended more than 5 s ago/)
  assert.equal(existsSync(`/proc/${await readFile(join(at.root, 'pid'), 'utf8')}`), false)
})

test('a file is not ended while a test runs that a module declares for it', async () => {
  await using at = await place()
  const helper = `exports.declare = () => require('node:test').test('long', () => new Promise((done) => setTimeout(done, 9000)))`
  await writeFile(join(at.root, 'helper.cjs'), helper)
  const own = await at.testJob('own.test.cjs', `${GOOD}; require('./helper.cjs').declare()`)
  const within = { ...own, command: [...own.command, '--exit-within', EXIT_SECONDS] }
  const { counts, output } = await runJob(within, at.options)
  assert.deepEqual(counts, { passed: 3, failed: 0, skipped: 0 }, output)
  assert.doesNotMatch(output, /killed/)
})

test('a job that needs a failed job is not run and counts as failed; everything is printed', async () => {
  await using at = await place()
  const printed: string[] = []
  const outcomes = await runAll(
    [
      job(['false'], { name: 'setup', isFirst: true }),
      job(['touch', 'ran'], { name: 'needy', needs: ['setup'] }),
      { ...(await at.testJob('good.test.cjs', GOOD)) },
    ],
    { ...at.options, print: (line) => void printed.push(line) },
  )
  assert.deepEqual(sumOf(outcomes), { passed: 2, failed: 2, skipped: 0 })
  assert.equal(existsSync(join(at.root, 'ran')), false)
  const ends = printed.filter((line) => line.startsWith('== '))
  assert.match(ends.join('\n'), /== needy: 0 s, not run, because a job that it needs failed/)
  assert.match(
    ends.join('\n'),
    /== good\.test\.cjs: [\d.]+ s, 2 passed, 0 failed, 0 skipped\n✔ one/,
  )
})
