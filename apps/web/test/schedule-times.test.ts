import assert from 'node:assert/strict'
import { test } from 'node:test'

import { newTimes, timesOf, whyNotTimes } from '../src/model/workflows/schedule-times.ts'
import { scheduleCommand } from '../src/model/workflows/workflow-commands.ts'

const form = { schema: { type: 'object' }, value: {} }
const everyTwo = { ...newTimes('Europe/Berlin'), kind: 'interval' } as const

test('a schedule has either times of cron with a time zone, or an interval in seconds', () => {
  const times = timesOf(newTimes('Europe/Berlin'))
  assert.deepEqual(times, { cron: '0 3 * * *', 'time-zone': 'Europe/Berlin' })
  assert.deepEqual(timesOf(everyTwo), { 'every-seconds': 7200 })
  assert.deepEqual(timesOf({ ...everyTwo, amount: '1.5', unit: 'minutes' }), {
    'every-seconds': 90,
  })
  assert.equal(
    scheduleCommand('Greet', { times: timesOf(everyTwo), title: 'often' }, form),
    'skerry workflow schedule Greet --every 7200 --name often',
  )
  assert.equal(
    scheduleCommand('Greet', { times, title: 'nightly' }, form),
    "skerry workflow schedule Greet --cron '0 3 * * *' --time-zone Europe/Berlin --name nightly",
  )
})

test('an interval outside the limits of the server is refused with the limit', () => {
  assert.equal(whyNotTimes(timesOf(everyTwo)), undefined)
  assert.match(whyNotTimes(timesOf({ ...everyTwo, amount: '' })) ?? '', /at least 10 s/)
  assert.match(whyNotTimes(timesOf({ ...everyTwo, amount: 'x' })) ?? '', /at least 10 s/)
  assert.match(whyNotTimes(timesOf({ ...everyTwo, amount: '367', unit: 'days' })) ?? '', /366 days/)
  assert.match(whyNotTimes({ cron: ' ', 'time-zone': 'UTC' }) ?? '', /needs times/)
})
