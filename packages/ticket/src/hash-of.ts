import { createHash } from 'node:crypto'

/** How a ticket is known to everybody but its bearer: at rest, on its way to the database, and to the host before it is shown. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest()
