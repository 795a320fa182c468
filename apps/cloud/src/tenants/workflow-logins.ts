import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'

/** An opaque value that changes with every change of an account or organisation, in the same transaction. */
export async function readAccountStamp(db: Kysely<CloudTables>): Promise<string> {
  const { rows } = await sql<{ stamp: string }>`
    select changed::text as stamp from account_stamp`.execute(db)
  return rows[0]?.stamp ?? ''
}

export interface WorkflowLogin {
  /** The workflow server that the user logged in at. */
  readonly server: string
  readonly org: OrgId
  readonly account: UserId
  readonly user: string
  readonly address: string
  /** The name of the API token that was given instead of a password. */
  readonly token?: string | undefined
}

/** Records a login at a workflow server, which may act for the user from now on; emits the same event as other logins. */
export async function noteWorkflowLogin(
  db: Kysely<CloudTables>,
  { server, org, account, user, address, token }: WorkflowLogin,
): Promise<void> {
  const named = token === undefined ? {} : { token }
  const what = JSON.stringify({ by: user, from: address, via: server, ...named })
  await sql`with noted as (
      insert into workflow_login as kept (server, account_org, account) values (${server}, ${org}, ${account})
      on conflict (server, account_org, account) do update set at = clock_timestamp()
      returning account_org)
    insert into event (kind, org, details) select 'session.begun', account_org, ${what}::jsonb from noted`.execute(
    db,
  )
}

/** Records that the user's session was used at a workflow server. The event of that session's login is there already. */
export async function keepWorkflowLogin(
  db: Kysely<CloudTables>,
  { server, org, account }: Pick<WorkflowLogin, 'server' | 'org' | 'account'>,
): Promise<void> {
  await sql`insert into workflow_login as kept (server, account_org, account) values (${server}, ${org}, ${account})
    on conflict (server, account_org, account) do update set at = clock_timestamp()
    where kept.at < clock_timestamp() - interval '1 min'`.execute(db)
}
