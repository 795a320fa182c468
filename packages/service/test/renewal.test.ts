// Goal: a certificate is renewed in time, also after failures. Method: a clock that the test moves.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  isDue,
  issueCertificate,
  keepRenewed,
  lifetimes,
  makeIssuer,
  makeKey,
} from '../src/index.ts'
import { publicKeyOf, spanFrom } from '../src/index.ts'

const DAY_MS = 24 * 60 * 60 * 1000

async function runFor(kind: 'host' | 'control', days: number, fails: (day: number) => boolean) {
  const key = await makeKey()
  const begin = new Date('2030-01-01T00:00:00Z')
  let now = begin
  const issuer = await makeIssuer({
    key,
    subject: 'i',
    serial: '01',
    ...spanFrom(now, lifetimes.issuer.holdMs),
  })
  const issue = () =>
    issueCertificate(issuer, {
      publicKey: publicKeyOf(key),
      subject: 'm',
      serial: '02',
      uris: ['skerry://c/host/h'],
      ...spanFrom(now, lifetimes[kind].holdMs),
    })
  let current = await issue()
  const renewed: number[] = []
  const logged: string[] = []
  const ended = new AbortController()
  const day = () => (now.getTime() - begin.getTime()) / DAY_MS
  await keepRenewed(
    {
      clock: { now: () => now },
      afterMs: lifetimes[kind].renewMs,
      current: () => current,
      async renew() {
        if (fails(day())) throw new Error('no cell answers')
        current = await issue()
        renewed.push(day())
      },
      async pause() {
        now = new Date(now.getTime() + DAY_MS / 4)
        if (day() > days) ended.abort()
      },
      log: (message) => logged.push(message),
    },
    ended.signal,
  )
  return { renewed, logged }
}

test('a host is renewed each month, a cell each day', async () => {
  assert.deepEqual((await runFor('host', 95, () => false)).renewed, [30, 60, 90])
  assert.deepEqual((await runFor('control', 3.5, () => false)).renewed, [1, 2, 3])
})

test('a renewal that fails is tried again until it succeeds', async () => {
  const { renewed, logged } = await runFor('control', 4, (day) => day < 3)
  assert.deepEqual(renewed, [3, 4])
  assert.equal(logged.filter((each) => each.includes('could not')).length, 8)
})

test('a certificate that is not valid yet is due: its issuer’s clock was wrong', async () => {
  const key = await makeKey()
  const now = new Date('2030-01-01T00:00:00Z')
  const later = new Date(now.getTime() + 400 * DAY_MS)
  const issuer = await makeIssuer({
    key,
    subject: 'i',
    serial: '01',
    ...spanFrom(now, lifetimes.issuer.holdMs),
  })
  const issuedAt = (when: Date) =>
    issueCertificate(issuer, {
      publicKey: publicKeyOf(key),
      subject: 'm',
      serial: '02',
      uris: ['skerry://c/cell/x'],
      ...spanFrom(when, lifetimes.control.holdMs),
    })
  const { renewMs } = lifetimes.control
  assert.equal(isDue(await issuedAt(later), now, renewMs), true)
  assert.equal(isDue(await issuedAt(now), now, renewMs), false)
})
