import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'

/** PostgreSQL's own. The password is 256 random bits, so that no number of rounds would make it any harder. */
const ROUNDS = 4096
const BYTES = 32

/** What PostgreSQL keeps of a password (RFC 5803), made here: so the password itself is in no statement, and in no log of them. */
export function scramVerifier(password: string, salt: Buffer): string {
  const salted = pbkdf2Sync(password, salt, ROUNDS, BYTES, 'sha256')
  const keyed = (word: string) => createHmac('sha256', salted).update(word).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  const server = keyed('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ROUNDS}:${salt.toString('base64')}$${stored}:${server}`
}
