import assert from 'node:assert/strict'
import { test } from 'node:test'

import { readBasic } from '../src/index.ts'

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

test('a name without an organisation belongs to the default one, if configured', () => {
  assert.deepEqual(readBasic(basic('ann:x'), 'eng'), { user: 'ann', org: 'eng', password: 'x' })
  assert.deepEqual(readBasic(basic('ann@ops:x'), 'eng'), { user: 'ann', org: 'ops', password: 'x' })
  for (const wrong of ['', ':', '@ops:x', 'a\n:x']) {
    assert.equal(readBasic(basic(wrong), 'eng'), undefined, wrong)
  }
})

test('credentials are user@organisation, split at the last @, and nothing else', () => {
  assert.deepEqual(readBasic(basic('a@b@eng:x:y')), { user: 'a@b', org: 'eng', password: 'x:y' })
  assert.deepEqual(readBasic(basic('ä@eng:').replace('Basic', 'bAsIc ')), {
    user: 'ä',
    org: 'eng',
    password: '',
  })
  for (const wrong of ['', ':', 'a', 'a:b', '@eng:x', 'a\n@eng:x', `${'a'.repeat(5000)}@eng:x`]) {
    assert.equal(readBasic(basic(wrong)), undefined, wrong)
  }
})
