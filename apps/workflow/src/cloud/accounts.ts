import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'

import { rightsOf, type WorkflowPrincipal } from '../identity/rights.ts'
import type { Cells } from './cells.ts'

export interface PresentedCredentials {
  readonly user: string
  readonly org: string
  readonly password: string
}

/** The user that these credentials belong to, according to the cloud; undefined: wrong, or no access. Throws `too-many` if throttled. */
export async function checkCredentials(
  cells: Cells,
  credentials: PresentedCredentials,
  address: string,
): Promise<WorkflowPrincipal | undefined> {
  return readPrincipal(cells, '/machine/v1/credentials', { ...credentials, address })
}

/** The user of this session of the web UI, according to the cloud; undefined: it has ended, or is no session. */
export const findSession = (cells: Cells, token: string): Promise<WorkflowPrincipal | undefined> =>
  readPrincipal(cells, '/machine/v1/sessions', { token })

async function readPrincipal(
  cells: Cells,
  path: string,
  body: object,
): Promise<WorkflowPrincipal | undefined> {
  const answer = await cells.report({ method: 'POST', path, body }).catch((error: unknown) => {
    // A malformed name or token cannot belong to any user.
    if (error instanceof Fault && ['unauthenticated', 'invalid'].includes(error.kind)) {
      return undefined
    }
    throw error
  })
  if (answer === undefined) return undefined
  const { account, org, orgName, user, role } = answer as Readonly<Record<string, string>>
  const { rights } = answer as { readonly rights?: readonly string[] }
  if (!account || !org || !orgName || !user || !role || !Array.isArray(rights)) {
    throw new Fault('unavailable', 'the cloud returned incomplete account data')
  }
  return {
    account: account as UserId,
    org: org as OrgId,
    orgName,
    user,
    role,
    rights: rightsOf(role, rights),
  }
}

/** A value that changes whenever an account, a role or an organisation changes. */
export async function readStamp(cells: Cells): Promise<string> {
  const answer = await cells.report({ method: 'GET', path: '/machine/v1/accounts/stamp' })
  return String((answer as { readonly stamp?: unknown }).stamp)
}
