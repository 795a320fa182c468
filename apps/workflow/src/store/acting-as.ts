import { ownLogin, type OwnLogin } from '@skerry/postgres'

/** The database roles with row-level security (migrations/0001-workflow.sql). */
export type WorkflowActingRole = 'skerry_workflow_tenant' | 'skerry_workflow_system'

/** The login of a workflow server for each role. */
export type ServerLogins = Readonly<Record<WorkflowActingRole, OwnLogin>>

/** One login for each role, so that a statement cannot switch to another role. `key`: a secret of the server. */
export function serverLogins(
  { database: url, name: server }: { readonly database: string; readonly name: string },
  key: string,
): ServerLogins {
  const login = (role: WorkflowActingRole) => ownLogin({ url, server, role, key })
  return {
    skerry_workflow_tenant: login('skerry_workflow_tenant'),
    skerry_workflow_system: login('skerry_workflow_system'),
  }
}

/** The connection URL with options to act as this role from the first statement on. */
export function actingAs(url: string, role: WorkflowActingRole): string {
  const acting = new URL(url)
  acting.searchParams.set('options', `-c role=${role} -c jit=off -c random_page_cost=1.1`)
  return acting.href
}
