// Goal: CI uses both lanes, separates conflicting jobs, and never waits for a job that cannot start.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { estimate, hopeless, inOrder, LANES, nextJob, type Job } from '../schedule.ts'

const job = (name: string, more: Partial<Job> = {}): Job => ({
  name,
  command: ['true'],
  files: [],
  seconds: 10,
  weight: 1,
  isQuiet: false,
  locks: [],
  needs: [],
  ...more,
})
const none = { running: [], passed: new Set<string>() }

test('the longest job that may start is next', () => {
  const waiting = [job('short', { seconds: 1 }), job('long', { seconds: 99 }), job('middle')]
  assert.equal(nextJob({ ...none, waiting })?.name, 'long')
  assert.deepEqual(
    inOrder(waiting).map(({ name }) => name),
    ['long', 'middle', 'short'],
  )
})

test('set-up and checks start before longer jobs', () => {
  const waiting = [job('long', { seconds: 99 }), job('types', { isFirst: true })]
  assert.equal(nextJob({ ...none, waiting })?.name, 'types')
})

test('at most two jobs run at once, and none with an exclusive job', () => {
  const waiting = [job('next')]
  assert.equal(nextJob({ ...none, waiting, running: [job('a')] })?.name, 'next')
  assert.equal(nextJob({ ...none, waiting, running: [job('a'), job('b')] }), undefined)
  assert.equal(nextJob({ ...none, waiting, running: [job('a', { weight: 2 })] }), undefined)
})

test('an exclusive job waits for both lanes and lets shorter jobs run first', () => {
  const alone = job('alone', { weight: 2, seconds: 99 })
  assert.equal(nextJob({ ...none, waiting: [alone, job('b')], running: [job('a')] })?.name, 'b')
  assert.equal(nextJob({ ...none, waiting: [alone], running: [job('a')] }), undefined)
  assert.equal(nextJob({ ...none, waiting: [alone] })?.name, 'alone')
})

test('a quiet job runs after the others, and only beside another quiet job', () => {
  const quiet = job('quiet', { isQuiet: true, seconds: 99 })
  const alone = job('alone', { weight: 2 })
  assert.equal(nextJob({ ...none, waiting: [quiet, job('b')], running: [job('a')] })?.name, 'b')
  assert.equal(nextJob({ ...none, waiting: [quiet], running: [job('a')] }), undefined)
  assert.equal(nextJob({ ...none, waiting: [job('b')], running: [quiet] }), undefined)
  const second = job('second', { isQuiet: true })
  assert.equal(nextJob({ ...none, waiting: [alone, second], running: [quiet] })?.name, 'second')
  assert.equal(nextJob({ ...none, waiting: [alone], running: [quiet] }), undefined)
})

test('jobs with a common lock run one after the other', () => {
  const running = [job('a', { locks: ['8281'] })]
  const other = job('other', { seconds: 1, locks: ['users'] })
  const same = job('same', { locks: ['8281'] })
  assert.equal(nextJob({ ...none, waiting: [same, other], running })?.name, 'other')
  assert.equal(nextJob({ ...none, waiting: [same], running }), undefined)
})

test('a job starts when all jobs that it needs have passed, and never if one failed', () => {
  const waiting = [job('test', { needs: ['setup'] })]
  assert.equal(nextJob({ waiting, running: [job('setup')], passed: new Set() }), undefined)
  assert.deepEqual(hopeless({ waiting, running: [job('setup')], passed: new Set() }), [])
  assert.equal(nextJob({ waiting, running: [], passed: new Set(['setup']) })?.name, 'test')
  assert.deepEqual(hopeless({ waiting, running: [], passed: new Set() }), waiting)
})

test('the estimate runs every job once, within the lanes and the locks', () => {
  const jobs = [
    job('setup', { seconds: 30, isFirst: true }),
    ...Array.from({ length: 9 }, (_, at) => job(`plain ${at}`, { seconds: 5 + at })),
    ...Array.from({ length: 4 }, (_, at) => job(`locked ${at}`, { locks: ['x'], seconds: 7 })),
    ...Array.from({ length: 3 }, (_, at) => job(`alone ${at}`, { weight: 2, needs: ['setup'] })),
  ]
  const planned = estimate(jobs)
  assert.deepEqual(
    planned.map(({ job: { name } }) => name).sort(),
    jobs.map(({ name }) => name).sort(),
  )
  for (const { from } of planned) {
    const beside = planned.filter((each) => each.from <= from && from < each.to)
    assert.ok(beside.reduce((sum, each) => sum + each.job.weight, 0) <= LANES)
    assert.ok(beside.filter((each) => each.job.locks.includes('x')).length <= 1)
  }
})
