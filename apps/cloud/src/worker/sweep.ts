import type { Kysely } from 'kysely'

import type { Bell } from '../bell.ts'
import type { Database } from '../store/database.ts'
import { takeUnattended } from '../store/unattended.ts'

const AT_ONCE = 200
/** The third ring in vain replaces the run: it may wait for ever for code that is no more. */
const IN_VAIN = 3

/**
 * Sees to every queue that nobody looks at: bells may be lost, runs may be lost, tasks may not. A run
 * that is there and has not come to its turn yet needs no bell; one that never does is replaced.
 */
export async function sweep(db: Kysely<Database>, bell: Bell): Promise<number> {
  const waiting = await takeUnattended(db, AT_ONCE)
  await Promise.allSettled(
    waiting.map(({ id, rings }) => (rings % IN_VAIN === 0 ? bell.replace(id) : bell.seat(id))),
  )
  return waiting.length
}
