// Goal: passwords are stored as hashes that are slow to guess, and a login of an unknown user takes as long as that of a known one.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'

import { hashPassword, spareHash, verifyPassword } from '../src/auth/password.ts'

const costOf = (hash: string): string => hash.split('$').slice(0, 3).join('$')

test('a hash fits its own password only, and states the cost of the recommendation', async () => {
  const hash = await hashPassword('secret', randomBytes(16))
  assert.equal(costOf(hash), '$argon2id$m=65536,t=3,p=1')
  assert.equal(await verifyPassword('secret', hash), true)
  assert.equal(await verifyPassword('Secret', hash), false)
})

test('a cheaper hash is verified by its own cost', async () => {
  const hash = await hashPassword('secret', randomBytes(16), { memory: 8, passes: 1 })
  assert.equal(costOf(hash), '$argon2id$m=8,t=1,p=1')
  assert.equal(await verifyPassword('secret', hash), true)
  assert.equal(await verifyPassword('Secret', hash), false)
})

test('a spare hash has the cost and the lengths of a real one, and no password', async () => {
  const spare = spareHash(() => randomBytes(16))
  const real = await hashPassword('secret', randomBytes(16))
  const lengths = (hash: string) => hash.split('$').map((part) => part.length)
  assert.equal(costOf(spare), costOf(real))
  assert.deepEqual(lengths(spare), lengths(real))
  for (const guess of ['', 'secret']) assert.equal(await verifyPassword(guess, spare), false)
  assert.notEqual(
    spare,
    spareHash(() => randomBytes(16)),
  )
})
