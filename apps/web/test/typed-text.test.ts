import assert from 'node:assert/strict'
import { test } from 'node:test'

import { typedInto } from '../src/model/typed-text.ts'

test('a character is added, Backspace removes one, and other keys change nothing', () => {
  assert.equal(typedInto('con', 's'), 'cons')
  assert.equal(typedInto('con', ' '), 'con ')
  assert.equal(typedInto('con', 'Backspace'), 'co')
  assert.equal(typedInto('', 'Backspace'), '')
  assert.equal(typedInto('con', 'Enter'), undefined)
  assert.equal(typedInto('con', 'F6'), undefined)
})
