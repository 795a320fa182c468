import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'

import { Fault } from '@skerry/fault'

const LENGTH_MIN = 16
const OTHERS = 0o077

/** A token that every request must carry, kept as its digest. */
export interface Token {
  /** Whether this Authorization header carries it; in constant time. */
  isIn(authorization: string | undefined): boolean
}

export function makeToken(word: string): Token {
  const expected = digest(word)
  return {
    isIn(authorization = '') {
      const given = /^Bearer +(\S+)$/i.exec(authorization)?.[1] ?? ''
      return timingSafeEqual(digest(given), expected)
    },
  }
}

const digest = (word: string): Buffer => createHash('sha256').update(word).digest()

/** Reads the token file, which only its owner may be able to read. */
export async function readToken(file: string): Promise<Token> {
  const { mode, text } = await readFileAndMode(file)
  if ((mode & OTHERS) !== 0) {
    throw new Fault('invalid', `the token file ${file} is accessible to other users`, {
      hint: `chmod 600 ${file}`,
    })
  }
  const word = text.trim()
  if (!/^\S+$/.test(word) || word.length < LENGTH_MIN) {
    throw new Fault(
      'invalid',
      `the token file ${file} must hold one word of at least ${LENGTH_MIN} characters`,
      { hint: `(umask 077; openssl rand -hex 32 > ${file})` },
    )
  }
  return makeToken(word)
}

async function readFileAndMode(file: string): Promise<{ mode: number; text: string }> {
  try {
    const { mode } = await stat(file)
    return { mode, text: await readFile(file, 'utf8') }
  } catch (cause) {
    throw new Fault('invalid', `the token file ${file} cannot be read`, { cause })
  }
}
