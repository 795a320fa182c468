/** The roles behind the second wall (migrations/0001-workflow.sql). */
export type ActingRole = 'skerry_workflow_tenant' | 'skerry_workflow_system'

/** The same way in, for connections that act as this role from their first statement on. */
export function actingAs(url: string, role: ActingRole): string {
  const acting = new URL(url)
  acting.searchParams.set('options', `-c role=${role} -c jit=off -c random_page_cost=1.1`)
  return acting.href
}
