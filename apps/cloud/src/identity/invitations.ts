import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, CloudTables } from '../database/tables.ts'

const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Valid for one host and one hour. Only the hash is stored: a reader of the table cannot join with it. */
export async function addInvitation(
  db: Kysely<CloudTables>,
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

export interface ArrivingMachine {
  readonly token: string
  /** PEM. */
  readonly publicKey: string
  readonly name: string
  /** Address of its host API. */
  readonly address: string
  readonly port: number
  /** The host id that the machine already has; it can only rejoin with this id. */
  readonly host?: string
}

/**
 * Returns the host id of this machine. An invitation belongs to the first key that used it: the same key may
 * use it again, because a response can be lost, and gets the same id.
 */
export async function useInvitation(
  db: Kysely<CloudTables>,
  arriving: ArrivingMachine,
): Promise<HostId> {
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
    if (!invitation) throw refused('invitation not found')
    if (invitation.expired) throw refused('the invitation has expired: it is valid for one hour')
    const { public_key: owner } = invitation
    if (owner !== null && owner !== publicKey) {
      throw refused('the invitation was already used by another machine')
    }
    const known = invitation.host ?? invitation.made
    if (arriving.host !== undefined && arriving.host !== known) {
      throw refused(`this machine is already host ${arriving.host}`, arriving.host)
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
      await emitEvent(tx, { kind: 'host.joined', host: id, details: { name, address, port } })
    }
    await tx
      .updateTable('invitation')
      .set({ public_key: publicKey, made: id })
      .where('token_hash', '=', hashToken(token))
      .execute()
    return id
  })
}

/** A revoked or lost host must not be able to rejoin with its old keys. */
async function requireJoined(tx: Tx, id: HostId): Promise<void> {
  const host = await tx
    .selectFrom('host')
    .select('state')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (host?.state === 'joined') return
  throw host
    ? refused(`host ${id} is ${host.state} and cannot rejoin`)
    : new Fault('not-found', `host not found: ${id}`)
}

const refused = (why: string, host?: string): Fault =>
  new Fault('forbidden', why, {
    hint: `create a new invitation: skerry admin host invite${host === undefined ? '' : ` --host ${host}`}`,
  })
