import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'

export interface OpenConsoleRow {
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
    select org.name as org, vm.container_name as vapp, vm.name, vm.id as vm, console.user_name as user,
      console.address as from, console.via, console.opened_at as opened, console.bytes
    from console join vm on vm.id = console.vm join org on org.id = console.org
    where console.ended_at is null and console.renewed_at > clock_timestamp() - console_life()
    order by console.opened_at, console.id`.execute(db)
  return rows
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
