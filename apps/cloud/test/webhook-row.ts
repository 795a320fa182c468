// The row of a webhook that nothing is sent to: it is disabled.
import { randomBytes } from 'node:crypto'

import type { OrgId } from '@skerry/vm'

import { endOfEvents } from '../src/database/events.ts'
import { newSecret } from '../src/webhooks/signature.ts'
import { seal, type CloudDatabase } from './cloud-database.ts'

export async function addWebhookRow(
  db: CloudDatabase['db'],
  org: OrgId,
  name: string,
  url = 'https://siem.example/events',
): Promise<string> {
  const secret = newSecret(randomBytes(32).toString('base64url'))
  const sealed = seal.close(secret, `webhook ${org}/${name}`)
  const { tx, seq } = await endOfEvents(db)
  const { id } = await db
    .insertInto('webhook')
    .values({ org, name, url, kinds: [], sealed, disabled: 'asked', tx, seq })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
