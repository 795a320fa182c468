import { ownLogin, type OwnLogin } from '@skerry/postgres'

/** The database roles that row-level security applies to (migrations/0001-cloud.sql). */
export type ActingRole = 'skerry_tenant' | 'skerry_system'

/** The login of a cell for each role. */
export type CellLogins = Readonly<Record<ActingRole, OwnLogin>>

/** One login per role, so that a statement cannot switch its connection to another role. `key`: a secret of the cell. */
export function cellLogins(
  { database: url, cell: server }: { readonly database: string; readonly cell: string },
  key: string,
): CellLogins {
  const login = (role: ActingRole) => ownLogin({ url, server, role, key })
  return { skerry_tenant: login('skerry_tenant'), skerry_system: login('skerry_system') }
}

/** The same URL, for connections that use this role from their first statement on. */
export function actingAs(url: string, role: ActingRole): string {
  const acting = new URL(url)
  acting.searchParams.set('options', `-c role=${role}`)
  return acting.href
}

/**
 * The same for the query service. Settings of a role apply only at login, so the connection sets them: pages are found by
 * index scans, whose cost the planner overestimates; and the query of a tenant uses one core.
 */
export function readingAs(url: string, role: ActingRole): string {
  const acting = new URL(url)
  const settings = [
    `role=${role}`,
    'default_transaction_read_only=on',
    'plan_cache_mode=force_custom_plan',
    'jit=off',
    'random_page_cost=1.1',
    ...(role === 'skerry_tenant' ? ['max_parallel_workers_per_gather=0'] : []),
  ]
  acting.searchParams.set('options', settings.map((each) => `-c ${each}`).join(' '))
  return acting.href
}
