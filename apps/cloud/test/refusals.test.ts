// Goal: users of an Active Directory read why they are refused, and no one learns who exists. Method: answers of a Samba to binds.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { refusalIn, refusalText } from '../src/directories/refusals.ts'

const answer = (code: string): string =>
  `80090308: LdapErr: DSID-0C0903A9, comment: AcceptSecurityContext error, data ${code}, v1db1 Code: 0x31`

test('the code of a refused bind is read', () => {
  const read = ['532', '773', '701', '533', '775'].map((code) => refusalIn(answer(code)))
  const expired = 'password expired'
  assert.deepEqual(read, [expired, expired, 'account expired', 'disabled', 'locked'])
})

test('a wrong password, and the answer of another directory, have no reason', () => {
  for (const message of [
    answer('52e'),
    answer('525'),
    'Invalid Credentials Code: 0x31',
    'data 775',
  ]) {
    assert.equal(refusalIn(message), undefined, message)
  }
})

test('a locked user reads the same as after a wrong password', () => {
  assert.equal(refusalText('locked', 'corp'), undefined)
  assert.match(refusalText('password expired', 'corp') ?? '', /expired at identity server corp/)
  assert.match(refusalText('account expired', 'corp') ?? '', /account is expired/)
  assert.match(refusalText('disabled', 'corp') ?? '', /account is disabled/)
})
