// The fencing token in the northbound database: a transaction of an older holder of the zone is refused by the database itself.
import { Fault } from '@skerry/fault'
import {
  map,
  mapOf,
  Refused,
  set,
  type OperationResult,
  type Ovsdb,
  type OvsdbOperation,
} from '@skerry/ovsdb'

export const NORTHBOUND = 'OVN_Northbound'
const KEY = 'skerry-fence'

/** Holds only while this token is the newest; part of every transaction. */
const fence = (token: string): OvsdbOperation => ({
  op: 'wait',
  table: 'NB_Global',
  where: [['external_ids', 'includes', map({ [KEY]: token })]],
  columns: [],
  until: '==',
  rows: [{}],
  timeout: 0,
})

const stale = (token: string, cause?: unknown): Fault =>
  new Fault('stale', `a newer network server than that of token ${token} holds the zone`, { cause })

/** Takes the database for this token: from then on older tokens are refused. Throws a Fault `stale` if a newer one has it. */
export async function takeFence(database: Ovsdb, token: string): Promise<void> {
  const [row] = await database.select(NORTHBOUND, 'NB_Global', ['external_ids'])
  if (row === undefined) {
    // There can be only one such row: of two servers that insert it, one is refused.
    const first = { external_ids: map({ [KEY]: token }) }
    await guarded(
      token,
      database.transact(NORTHBOUND, [{ op: 'insert', table: 'NB_Global', row: first }]),
    )
    return
  }
  const known = String(mapOf(row['external_ids']).get(KEY) ?? '0')
  if (BigInt(known) > BigInt(token)) throw stale(token)
  await guarded(
    token,
    database.transact(NORTHBOUND, [
      // As it was read: no one took it meanwhile.
      {
        op: 'wait',
        table: 'NB_Global',
        where: [],
        columns: ['external_ids'],
        until: '==',
        rows: [row],
        timeout: 0,
      },
      {
        op: 'mutate',
        table: 'NB_Global',
        where: [],
        mutations: [
          ['external_ids', 'delete', set([KEY])],
          ['external_ids', 'insert', map({ [KEY]: token })],
        ],
      },
    ]),
  )
}

async function guarded<T>(token: string, taken: Promise<T>): Promise<T> {
  return taken.catch((cause: unknown) => {
    throw cause instanceof Refused ? stale(token, cause) : cause
  })
}

/** Executes the operations if this token is still the newest. Throws a Fault `stale` if not, and `Refused` for any other reason. */
export async function writeFenced(
  database: Ovsdb,
  token: string,
  operations: readonly OvsdbOperation[],
): Promise<readonly OperationResult[]> {
  try {
    return await database.transact(NORTHBOUND, [fence(token), ...operations])
  } catch (cause) {
    // The fence is the first operation, and the only one that waits.
    if (cause instanceof Refused && cause.at === 0) throw stale(token, cause)
    throw cause
  }
}
