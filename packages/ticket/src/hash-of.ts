import { createHash } from 'node:crypto'

/** Everyone but the bearer knows a ticket only by this hash: the database, connections to it, and the host until it is redeemed. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
