/** The roles behind the second wall (migrations/0002-walls.sql). */
export type ActingRole = 'skerry_tenant' | 'skerry_system'

/** The same way in, for connections that act as this role from their first statement on. */
export function actingAs(url: string, role: ActingRole): string {
  const acting = new URL(url)
  acting.searchParams.set('options', `-c role=${role}`)
  return acting.href
}

/**
 * The same for the query service. Roles that nobody logs in as bring no settings of their own, so the connection does: pages are
 * found by walking indexes, whose cost the planner overrates; and one tenant's question takes one core.
 */
export function readingAs(url: string, role: ActingRole): string {
  const acting = new URL(url)
  const settings = [
    ...[`role=${role}`, 'default_transaction_read_only=on', 'plan_cache_mode=force_custom_plan'],
    ...['jit=off', 'random_page_cost=1.1'],
    ...(role === 'skerry_tenant' ? ['max_parallel_workers_per_gather=0'] : []),
  ]
  acting.searchParams.set('options', settings.map((each) => `-c ${each}`).join(' '))
  return acting.href
}
