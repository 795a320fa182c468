import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Database } from './database.ts'

/** Changes with every change of an account or an organisation, in the same moment. Means nothing else. */
export async function readAccountStamp(db: Kysely<Database>): Promise<string> {
  const { rows } = await sql<{ stamp: string }>`
    select changed::text as stamp from account_stamp`.execute(db)
  return rows[0]?.stamp ?? ''
}

export interface WorkflowLogin {
  /** The workflow server that asked. */
  readonly server: string
  readonly org: OrgId
  readonly account: UserId
  readonly user: string
  readonly address: string
}

/** That somebody came in at a workflow server, which may act for them from now on; told as every other way in. */
export async function noteWorkflowLogin(
  db: Kysely<Database>,
  { server, org, account, user, address }: WorkflowLogin,
): Promise<void> {
  const what = JSON.stringify({ by: user, from: address, via: server })
  await sql`with noted as (
      insert into workflow_login as kept (server, account_org, account) values (${server}, ${org}, ${account})
      on conflict (server, account_org, account) do update set at = clock_timestamp()
      returning account_org)
    insert into event (kind, org, what) select 'session.begun', account_org, ${what}::jsonb from noted`.execute(
    db,
  )
}
