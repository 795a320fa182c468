import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'

/** PostgreSQL's default. The password has 256 random bits, so more rounds would add no security. */
const ROUNDS = 4096
const BYTES = 32

/** The verifier that PostgreSQL stores for a password (RFC 5803). Made here, so that the password is in no statement and no log. */
export function scramVerifier(password: string, salt: Buffer): string {
  const salted = pbkdf2Sync(password, salt, ROUNDS, BYTES, 'sha256')
  const keyed = (word: string) => createHmac('sha256', salted).update(word).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  const server = keyed('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ROUNDS}:${salt.toString('base64')}$${stored}:${server}`
}
