import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'

export interface OpenConsoleRow {
  readonly id: string
  readonly org: string
  readonly vapp: string
  readonly name: string
  readonly vm: string
  readonly user: string
  readonly from: string | null
  readonly via: string
  readonly opened: Date
  readonly bytes: string
}

/** The open screens, oldest first. */
export async function listConsoles(db: Kysely<CloudTables>): Promise<readonly OpenConsoleRow[]> {
  const { rows } = await sql<OpenConsoleRow>`
    select console.id, org.name as org, vm.container_name as vapp, vm.name, vm.id as vm, console.user_name as user,
      console.address as from, console.via, console.opened_at as opened, console.bytes
    from console join vm on vm.id = console.vm join org on org.id = console.org
    where console.ended_at is null and console.renewed_at > clock_timestamp() - console_life()
    order by console.opened_at, console.id`.execute(db)
  return rows
}

export type ConsoleRow = Selectable<CloudTables['console']>

/** Also one that must be closed and is not closed yet. */
export const findConsole = (tx: Tx, id: string): Promise<ConsoleRow | undefined> =>
  tx.selectFrom('console').selectAll().where('id', '=', id).executeTakeFirst()

/** Its console server learns it at the next renewal, within 2 s. The user may open the screen again. */
export async function endConsole(
  tx: Tx,
  principal: Principal,
  { id, org, vapp, vm, user_name }: ConsoleRow,
): Promise<void> {
  const ended =
    await sql`update console set ended_at = clock_timestamp(), why = 'closed-by-administrator'
    where id = ${id} and ended_at is null`.execute(tx)
  if (ended.numAffectedRows === 0n) return
  const details = { ...by(principal), user: user_name }
  await emitEvent(tx, { kind: 'console.ended', vm: { org, id: vm, vapp }, details })
}

export interface ConsoleLimits {
  readonly perVm: number
  readonly perUser: number
}

/** Sets the given limits and returns both. Open screens stay open. */
export async function limitConsoles(
  db: Kysely<CloudTables>,
  { perVm, perUser }: Partial<ConsoleLimits>,
): Promise<ConsoleLimits> {
  const { rows } = await sql<ConsoleLimits>`
    update cloud set consoles_per_vm = coalesce(${perVm ?? null}, consoles_per_vm),
      consoles_per_user = coalesce(${perUser ?? null}, consoles_per_user)
    returning consoles_per_vm as "perVm", consoles_per_user as "perUser"`.execute(db)
  const [limits] = rows
  if (!limits) throw new Error('the one row of the cloud is missing')
  return limits
}
