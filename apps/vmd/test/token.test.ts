import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { makeToken, readToken } from '../src/local/access/token.ts'

const WORD = '0123456789abcdef'

test('only the complete word, as a bearer, is the token', () => {
  const token = makeToken(WORD)
  assert.equal(token.isIn(`Bearer ${WORD}`), true)
  assert.equal(token.isIn(`bearer  ${WORD}`), true)
  for (const given of [
    undefined,
    '',
    WORD,
    `Basic ${WORD}`,
    `Bearer ${WORD}0`,
    'Bearer 0',
    'Bearer',
  ])
    assert.equal(token.isIn(given), false, given ?? 'none')
})

test('a file that others can read, and a file without a token, are rejected', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'token-'))
  try {
    const file = join(dir, 'token')
    await assert.rejects(readToken(file), /cannot be read/)
    await writeFile(file, `${WORD}\n`, { mode: 0o600 })
    assert.equal((await readToken(file)).isIn(`Bearer ${WORD}`), true)
    await chmod(file, 0o640)
    await assert.rejects(readToken(file), /is accessible to other users/)
    await chmod(file, 0o600)
    for (const text of ['', '\n', 'short', 'two words are not one word'])
      await assert.rejects(async () => {
        await writeFile(file, text)
        await readToken(file)
      }, /one word of at least 16/)
  } finally {
    await rm(dir, { recursive: true })
  }
})
