import { argon2, timingSafeEqual, type Argon2Parameters } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify(argon2)

/** What a check of one password takes: KiB of memory, and how often all of it is written. */
export interface PasswordCost {
  readonly memory: number
  readonly passes: number
}

/** RFC 9106, second recommended option, for machines that check many passwords at once. */
const COST: PasswordCost = { memory: 64 * 1024, passes: 3 }
const SHAPE = { parallelism: 1, tagLength: 32 } as const

/** '$argon2id$m=…,t=…,p=…$salt$hash': the cost is stored with the hash, so that it can be raised later. */
export async function hashPassword(
  password: string,
  nonce: Buffer,
  cost: PasswordCost = COST,
): Promise<string> {
  return written(nonce, await tag(password, { ...SHAPE, ...cost, nonce }), cost)
}

/** A hash that no password has. To check a password against it takes as long as against any other. */
export const spareHash = (random: () => Buffer): string =>
  written(random(), Buffer.concat([random(), random()]).subarray(0, SHAPE.tagLength), COST)

const written = (nonce: Buffer, hash: Buffer, { memory, passes }: PasswordCost): string =>
  [
    `$argon2id$m=${memory},t=${passes},p=${SHAPE.parallelism}`,
    nonce.toString('base64url'),
    hash.toString('base64url'),
  ].join('$')

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
