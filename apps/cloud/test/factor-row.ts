// The row of a second factor whose secret tests know.
import type { OrgId, UserId } from '@skerry/vm'

import { aboutFactor } from '../src/second-factors/prove.ts'
import { codeAt, stepAt } from '../src/second-factors/totp.ts'
import { seal, type CloudDatabase } from './cloud-database.ts'

/** The secret of the examples of RFC 6238. */
export const SECRET = Buffer.from('12345678901234567890')

/** The code of this many steps from now. */
export const codeNow = (steps = 0, secret: Uint8Array = SECRET): string =>
  codeAt(secret, stepAt(new Date()) + steps)

export async function addFactorRow(
  db: CloudDatabase['db'],
  { org, account }: { readonly org: OrgId; readonly account: UserId },
  name: string,
  confirmed = false,
): Promise<string> {
  const sealed = seal.close(SECRET.toString('base64'), aboutFactor({ org, account, name }))
  const { id } = await db
    .insertInto('second_factor')
    .values({ org, account, name, sealed, confirmed })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
