// The tenant API in its own process, so that its survival and its memory can be measured.
import { randomBytes } from 'node:crypto'

import type { OrgId } from '@skerry/vm'
import { sql } from 'kysely'

import { hashToken } from '../src/auth/access-token.ts'
import { openTenantsApi } from './tenants-api.ts'

export interface Opened {
  readonly port: number
  readonly ids: Readonly<Record<string, string>>
  readonly vapp: string
  /** Of an author of the organisation, and of a system administrator. */
  readonly author: string
  readonly administrator: string
  /** Of a user who may be logged out. */
  readonly leaver: string
}

export type Told =
  | { readonly is: 'open'; readonly opened: Opened }
  | { readonly is: 'right' }
  | { readonly is: 'closed'; readonly mistakes: string }

const api = await openTenantsApi()
const { db } = api.cloud
const tell = (message: Told) => process.send?.(message)

const system = await db
  .insertInto('org')
  .values({ name: 'System' })
  .returning('id')
  .executeTakeFirstOrThrow()

interface Kept {
  readonly token: string
  readonly org: OrgId
  readonly role: 'author' | 'system administrator'
}
const author: Kept = { token: '', org: api.eng.org, role: 'author' }
const administrator: Kept = { token: '', org: system.id, role: 'system administrator' }
const kept = await Promise.all(
  [author, administrator, author].map(async (each) => ({
    ...each,
    token: await api.enter(each.org, each.role),
  })),
)
const sessions = await Promise.all(
  kept.map(({ token }) =>
    db
      .selectFrom('session')
      .select(['token_hash as hash', 'account', 'org'])
      .where('token_hash', '=', hashToken(token))
      .executeTakeFirstOrThrow(),
  ),
)

/** Undoes the effect of a request that was valid after all, so that the next ones find the same state. */
async function setRight(): Promise<void> {
  await sql`update org set disabled = false, second_factor_required = false, name = 'eng' where id = ${api.eng.org}`.execute(
    db,
  )
  await sql`update vdc set disabled = false`.execute(db)
  await sql`update network set deleted_at = null, name = ${randomBytes(8).toString('hex')}
    where id = ${api.eng.ids['network']}`.execute(db)
  await sql`update edge_gateway set deleted_at = null, name = ${randomBytes(8).toString('hex')}
    where id = ${api.eng.ids['edgeGateway']}`.execute(db)
  await sql`update external_network set deleted_at = null, name = ${randomBytes(8).toString('hex')}
    where id = ${api.eng.ids['externalNetwork']}`.execute(db)
  await sql`delete from external_address where edge_gateway = ${api.eng.ids['edgeGateway']}
    and purpose = 'tenant' and address <> ${api.eng.ids['address']}`.execute(db)
  await sql`delete from security_group`.execute(db)
  await sql`insert into security_group (org, id, name, limits_in, limits_out)
    values (${api.eng.org}, ${api.eng.ids['securityGroup']}, 'lab', true, false)`.execute(db)
  await sql`delete from identity_provider where id not in (${api.eng.ids['provider']}, ${api.ops.ids['provider']})`.execute(
    db,
  )
  await sql`insert into identity_provider (org, id, name, kind, settings, sealed, disabled)
    select ${api.eng.org}, ${api.eng.ids['provider']}, 'lab', kind, settings, sealed, true
    from identity_provider where org = ${api.ops.org} on conflict do nothing`.execute(db)
  await sql`delete from webhook where id not in (${api.eng.ids['webhook']}, ${api.ops.ids['webhook']})`.execute(
    db,
  )
  await sql`insert into org_role (org, id, name, permissions)
    values (${api.eng.org}, ${api.eng.ids['role']}, 'lab', '{session,org:read,vm:read}') on conflict do nothing`.execute(
    db,
  )
  await sql`insert into webhook (org, id, name, url, sealed, tx, seq)
    select ${api.eng.org}, ${api.eng.ids['webhook']}, 'lab', url, sealed, tx, seq
    from webhook where org = ${api.ops.org} on conflict do nothing`.execute(db)
  await sql`delete from quota`.execute(db)
  await sql`update account set disabled = false where disabled`.execute(db)
  for (const { hash, account, org } of sessions) {
    await sql`update account set role = ${org === system.id ? 'system administrator' : 'author'}
      where id = ${account}`.execute(db)
    await sql`insert into session (token_hash, org, account) values (${hash}, ${org}, ${account})
      on conflict do nothing`.execute(db)
  }
  await sql`update task set state = 'canceled', ended_at = clock_timestamp()
    where state in ('queued', 'running') and id <> ${api.eng.ids['task']}`.execute(db)
  await sql`update vapp set closed = false, deleted_at = null, name = ${randomBytes(8).toString('hex')}
    where id = ${api.eng.vapp.slice(-36)}`.execute(db)
  await sql`update vm set closed = false, deleted_at = null, queue_target = null, status = 'POWERED_OFF', host_silent = false
    where id = ${api.eng.ids['entity']?.slice(-36)}`.execute(db)
  await sql`delete from access_token`.execute(db)
  // Of the author, who can revoke it.
  await sql`insert into access_token (org, id, account, name, token_hash)
    values (${api.eng.org}, ${api.eng.ids['accessToken']}, ${sessions[0]?.account}, 'script', ${randomBytes(32)})`.execute(
    db,
  )
  await sql`delete from recovery_code`.execute(db)
  await sql`delete from second_factor`.execute(db)
  await sql`insert into second_factor (org, id, account, name, sealed)
    values (${api.eng.org}, ${api.eng.ids['secondFactor']}, ${sessions[0]?.account}, 'tablet', ${randomBytes(48)})`.execute(
    db,
  )
  await sql`delete from upload`.execute(db)
  await sql`insert into upload (org, id, catalog, name, bytes, cpus, memory_mib)
    values (${api.eng.org}, ${api.eng.ids['upload']}, ${api.eng.ids['catalog']}, 'on its way', 4096, 1, 64)`.execute(
    db,
  )
  await sql`delete from metadata`.execute(db)
  await sql`insert into metadata (org, vapp, vm, key, type, value)
    values (${api.eng.org}, ${api.eng.vapp.slice(-36)}, ${api.eng.ids['entity']?.slice(-36)}, 'colour', 'String', 'red')`.execute(
    db,
  )
}

process.on('message', (word) => {
  if (word === 'set right') void setRight().then(() => tell({ is: 'right' }))
  else {
    void api[Symbol.asyncDispose]().then(
      () => tell({ is: 'closed', mistakes: '' }),
      (error: unknown) => tell({ is: 'closed', mistakes: String(error) }),
    )
  }
})
process.on('disconnect', () => process.exit())
await setRight()
const { port, eng } = api
const [ofAuthor, ofAdministrator, ofLeaver] = kept
tell({
  is: 'open',
  opened: {
    port,
    ids: { ...eng.ids, version: '5.1', file: 'master.xsd' },
    vapp: eng.vapp,
    author: ofAuthor?.token ?? '',
    administrator: ofAdministrator?.token ?? '',
    leaver: ofLeaver?.token ?? '',
  },
})
