import { argon2, timingSafeEqual, type Argon2Parameters } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify(argon2)

/** RFC 9106, its second recommendation, for machines that check many at once. */
const COST = { parallelism: 1, tagLength: 32, memory: 64 * 1024, passes: 3 } as const

/** Of a password that is given: whoever makes one is told. */
export const passwordLength = { least: 8, most: 256 } as const

/** '$argon2id$m=…,t=…,p=…$salt$hash': what it cost is kept with it, so that the cost can grow. */
export async function hashPassword(password: string, nonce: Buffer): Promise<string> {
  const hash = await tag(password, { ...COST, nonce })
  const { memory, passes, parallelism } = COST
  return [
    `$argon2id$m=${memory},t=${passes},p=${parallelism}`,
    nonce.toString('base64url'),
    hash.toString('base64url'),
  ].join('$')
}

export async function verifyPassword(password: string, kept: string): Promise<boolean> {
  const parts = /^\$argon2id\$m=(\d+),t=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/.exec(kept)
  if (!parts) return false
  const [, memory, passes, parallelism, salt = '', hash = ''] = parts
  const expected = Buffer.from(hash, 'base64url')
  const found = await tag(password, {
    nonce: Buffer.from(salt, 'base64url'),
    ...{ memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    tagLength: expected.length,
  })
  return timingSafeEqual(found, expected)
}

const tag = (password: string, cost: Omit<Argon2Parameters, 'message'>): Promise<Buffer> =>
  derive('argon2id', { message: Buffer.from(password), ...cost })
