import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Tx } from '../world.ts'
import type { Database } from './database.ts'
import { tell } from './events.ts'

const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** For one host and one hour. Only the hash is kept: who reads the table cannot join with it. */
export async function addInvitation(
  db: Kysely<Database>,
  token: string,
  host: HostId | undefined,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (host !== undefined) await requireJoined(tx, host)
    await tx
      .insertInto('invitation')
      .values({
        token_hash: hashToken(token),
        expires_at: sql<Date>`clock_timestamp() + interval '1 h'` as unknown as Date,
        host: host ?? null,
      })
      .execute()
    await sql`delete from invitation where expires_at < clock_timestamp() - interval '1 d'`.execute(
      tx,
    )
  })
}

export interface Arriving {
  readonly token: string
  /** PEM. */
  readonly publicKey: string
  readonly name: string
  /** Where its host API will be. */
  readonly address: string
  readonly port: number
  /** Which host it is already: it comes back as that one, or not. */
  readonly host?: string
}

/**
 * Which host this machine is from now on. An invitation belongs to the first key that used it: the
 * same key may ask again, because an answer can be lost, and is the same host.
 */
export async function useInvitation(db: Kysely<Database>, arriving: Arriving): Promise<HostId> {
  const { token, publicKey, name, address, port } = arriving
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      host: HostId | null
      made: HostId | null
      public_key: string | null
      expired: boolean
    }>`select host, made, public_key, expires_at <= clock_timestamp() as expired from invitation
      where token_hash = ${hashToken(token)} for update`.execute(tx)
    const [invitation] = rows
    if (!invitation) throw refused('there is no such invitation')
    if (invitation.expired) throw refused('the invitation has expired: it holds for one hour')
    const { public_key: owner } = invitation
    if (owner !== null && owner !== publicKey) {
      throw refused('the invitation was used by another machine')
    }
    const known = invitation.host ?? invitation.made
    if (arriving.host !== undefined && arriving.host !== known) {
      throw refused(`this machine is host ${arriving.host} already`, arriving.host)
    }
    if (known !== null) await requireJoined(tx, known)
    const at = { address, port, public_key: publicKey }
    const id =
      known ??
      (
        await tx
          .insertInto('host')
          .values({ ...at, name })
          .returning('id')
          .executeTakeFirstOrThrow()
      ).id
    if (known !== null) await tx.updateTable('host').set(at).where('id', '=', id).execute()
    if (owner === null) {
      await tell(tx, { kind: 'host.joined', host: id, what: { name, address, port } })
    }
    await tx
      .updateTable('invitation')
      .set({ public_key: publicKey, made: id })
      .where('token_hash', '=', hashToken(token))
      .execute()
    return id
  })
}

/** Whoever has the keys of a host that was revoked or lost must not come back by any way. */
async function requireJoined(tx: Tx, id: HostId): Promise<void> {
  const host = await tx
    .selectFrom('host')
    .select('state')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (host?.state === 'joined') return
  throw host
    ? refused(`host ${id} is ${host.state} and does not come back as that host`)
    : new Fault('not-found', `there is no host ${id}`)
}

const refused = (why: string, host?: string): Fault =>
  new Fault('forbidden', why, {
    hint: `a new invitation is made by: skerry cloud invite${host === undefined ? '' : ` --host ${host}`}`,
  })
