import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'

import { isRole, type Who } from '../identity/rights.ts'
import type { Cells } from './cells.ts'

export interface ShownCredentials {
  readonly user: string
  readonly org: string
  readonly password: string
}

/** Whose these are, as the cloud says; undefined: nobody's who may come in. Throws `too-many` where they are not looked at. */
export async function checkCredentials(
  cells: Cells,
  credentials: ShownCredentials,
  address: string,
): Promise<Who | undefined> {
  const body = { ...credentials, address }
  const path = '/machine/v1/credentials'
  const said = await cells.tell({ method: 'POST', path, body }).catch((error: unknown) => {
    // What can be nobody's name is nobody's name.
    if (error instanceof Fault && ['unauthenticated', 'invalid'].includes(error.kind)) {
      return undefined
    }
    throw error
  })
  if (said === undefined) return undefined
  const { account, org, orgName, user, role } = said as Readonly<Record<string, string>>
  if (!account || !org || !orgName || !user || !isRole(role ?? '')) {
    throw new Fault('unavailable', 'the cloud did not say who this is')
  }
  return { account: account as UserId, org: org as OrgId, orgName, user, role: role as Who['role'] }
}

/** Another one whenever an account, a role or an organisation has changed. */
export async function readStamp(cells: Cells): Promise<string> {
  const said = await cells.tell({ method: 'GET', path: '/machine/v1/accounts/stamp' })
  return String((said as { readonly stamp?: unknown }).stamp)
}
