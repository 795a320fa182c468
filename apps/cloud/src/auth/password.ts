import { argon2, timingSafeEqual, type Argon2Parameters } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify(argon2)

/** RFC 9106, second recommended option, for machines that check many passwords at once. */
const COST = { parallelism: 1, tagLength: 32, memory: 64 * 1024, passes: 3 } as const

/** '$argon2id$m=…,t=…,p=…$salt$hash': the cost is stored with the hash, so that it can be raised later. */
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
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  })
  return timingSafeEqual(found, expected)
}

const tag = (password: string, cost: Omit<Argon2Parameters, 'message'>): Promise<Buffer> =>
  derive('argon2id', { message: Buffer.from(password), ...cost })
