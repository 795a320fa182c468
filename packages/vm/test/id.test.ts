import assert from 'node:assert/strict'
import { test } from 'node:test'

import { isUuid, UUID } from '../src/index.ts'

const one = '0123abcd-4567-89ef-0123-456789abcdef'

test('a UUID is 32 hexadecimal digits in lower case, in five groups', () => {
  assert.equal(isUuid(one), true)
  const others = ['', one.toUpperCase(), one.replaceAll('-', ''), `${one}0`, `x${one}`, `${one}\n`]
  for (const other of others) assert.equal(isUuid(other), false, other)
})

test('the pattern of a UUID adds no group to a longer pattern', () => {
  assert.deepEqual([...(new RegExp(`^vm-(${UUID})$`).exec(`vm-${one}`) ?? [])], [`vm-${one}`, one])
})
