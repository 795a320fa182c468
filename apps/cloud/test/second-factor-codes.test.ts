// Goal: codes of second factors are those of RFC 6238, each step counts once, and nothing else is a code. Method: functions, with the
// vectors of the RFC, and oathtool as another program that makes codes.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { decideProof } from '../src/second-factors/decide-proof.ts'
import { newRecoveryCodes, readCode } from '../src/second-factors/recovery-codes.ts'
import { codeAt, otpauthAddress, stepAt, stepOf, toBase32 } from '../src/second-factors/totp.ts'
import { SECRET } from './factor-row.ts'

const run = promisify(execFile)

test('codes are those of RFC 6238', () => {
  for (const [seconds, code] of [
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ] as const) {
    const at = new Date(seconds * 1000)
    assert.equal(codeAt(SECRET, stepAt(at)), code.slice(2))
    assert.equal(stepOf(SECRET, code.slice(2), at, 0), stepAt(at))
  }
  assert.equal(toBase32(SECRET), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ')
  assert.equal(toBase32(Buffer.from('f')), 'MY')
  assert.equal(
    otpauthAddress(SECRET, 'bob@blue', 'cloud.example'),
    'otpauth://totp/cloud.example:bob%40blue?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=cloud.example',
  )
})

test('oathtool makes the same codes', async () => {
  for (let round = 0; round < 200; round += 1) {
    const secret = randomBytes(20)
    const at = new Date(1_700_000_000_000 + round * 37_000_000)
    const args = [
      '--totp',
      '-b',
      toBase32(secret),
      '--now',
      `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    ]
    const { stdout } = await run('oathtool', args)
    assert.equal(stdout.trim(), codeAt(secret, stepAt(at)))
  }
})

test('a clock may be off by one step, and a step is not taken twice', () => {
  const now = new Date(1_800_000_000_000)
  const step = stepAt(now)
  assert.equal((now.getTime() / 1000) % 30, 0, 'the beginning of a step')
  const by = (seconds: number) => {
    const theirs = new Date(now.getTime() + seconds * 1000)
    return stepOf(SECRET, codeAt(SECRET, stepAt(theirs)), now, 0)
  }
  assert.deepEqual([-61, -31, -30, -29, 0, 29, 31, 59, 61].map(by), [
    undefined,
    undefined,
    step - 1,
    step - 1,
    step,
    step,
    step + 1,
    step + 1,
    undefined,
  ])
  const code = codeAt(SECRET, step)
  assert.equal(stepOf(SECRET, code, now, step), undefined)
  assert.equal(stepOf(SECRET, code, now, step - 1), step)
  for (const wrong of ['', '12345', '1234567', 'abcdef', '１２３４５６']) {
    assert.equal(stepOf(SECRET, wrong, now, 0), undefined, wrong)
  }
})

test('what is typed is digits, a recovery code, or nothing; only what fits proves something', () => {
  const [code = ''] = newRecoveryCodes(() => randomBytes(32).toString('base64url'))
  assert.match(code, /^([a-z2-7]{4}-){3}[a-z2-7]{4}$/)
  const typed = readCode(code)
  assert.equal(typed?.kind, 'recovery')
  for (const other of [
    code.toUpperCase(),
    code.replaceAll('-', ''),
    ` ${code.replaceAll('-', ' ')}`,
  ]) {
    assert.deepEqual(readCode(other), typed)
  }
  assert.deepEqual(readCode('123 456'), { kind: 'digits', digits: '123456' })
  for (const none of ['', '1', `${code}a`, '1234-567', "' or 1=1"]) {
    assert.equal(readCode(none), undefined)
  }
  const now = new Date()
  const factor = { id: 'a', name: 'a', secret: SECRET, usedStep: 0 }
  const decide = (text: string | undefined, more: object = {}) =>
    decideProof(
      {
        factors: [factor],
        text,
        typed: text === undefined ? undefined : readCode(text),
        isKnown: false,
        ...more,
      },
      now,
    ).is
  const right = codeAt(SECRET, stepAt(now))
  assert.equal(decide(undefined), 'missing')
  assert.equal(decide(right), 'step')
  assert.equal(decide('nonsense'), 'wrong')
  assert.equal(decide(code), 'wrong')
  assert.equal(decide(code, { isKnown: true }), 'recovery')
  assert.equal(decide(right, { factors: [] }), 'not needed')
  assert.equal(decide(right, { factors: [{ ...factor, secret: undefined }] }), 'wrong')
  const unreadable = codeAt(Buffer.alloc(20), stepAt(now))
  assert.equal(decide(unreadable, { factors: [{ ...factor, secret: undefined }] }), 'wrong')
})
