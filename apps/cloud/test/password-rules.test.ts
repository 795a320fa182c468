// Goal: common passwords are rejected. Method: the most common ones, plain and decorated, and acceptable passwords.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'

import { checkPassword, commonPasswords } from '../src/auth/password-rules.ts'

const refused = async (password: string, user = 'alice'): Promise<string> => {
  const fault: unknown = await checkPassword(password, user).then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(fault instanceof Fault && fault.kind === 'invalid', `${password} was taken`)
  return fault.message
}

test('each of the ten thousand most common passwords is rejected, also with capitals, digits and punctuation', async () => {
  const common = [...(await commonPasswords())].slice(0, 10_000)
  assert.equal(common.length, 10_000)
  for (const word of common) {
    if (word.length >= 8) await refused(word)
    if (/^[a-z]{4,}$/.test(word)) await refused(`${word.toUpperCase()}2026!!`)
  }
})

test('a password that is short, too long, blank, of few characters, or the user’s name is rejected with the reason', async () => {
  assert.match(await refused('x9!kQ'), /8 to 256/)
  assert.match(await refused('x9!kQ'.repeat(100)), /8 to 256/)
  for (const few of [' '.repeat(8), 'aaaaaaaa', 'abababab', '  abc   abc ', '\t\t\t\t\t\t\t\t']) {
    assert.match(await refused(few), /fewer than four/, few)
  }
  assert.match(await refused('Christine-Mae', 'christine-mae'), /name of the user/)
  assert.match(await refused('xaverius99', 'Xaverius'), /name of the user/)
  assert.match(await refused('password'), /commonest/)
})

test('long phrases, generated passwords and other scripts are accepted', async () => {
  for (const fine of [
    'correct horse battery staple',
    'vE7-kwo0Tz_4',
    'пароль-от-сарая',
    'lange nacht am steg',
    'f3a1b0c4d5e6',
    'monkey 4471 9062',
  ]) {
    await checkPassword(fine, 'alice')
  }
})
