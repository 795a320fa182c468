import { Cloud, type SendRequest } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'

import type { Cells } from './cells.ts'

export interface GrantRequest {
  /** Its id: a repeated request returns the same grant. Default: the cloud chooses one. */
  readonly id?: string
  /** The organisation that owns the definition. */
  readonly org: OrgId
  readonly account: UserId
  readonly kind: 'run' | 'schedule'
  /** The parent grant, if no user makes the request: that of a schedule, or of the run that starts this one. */
  readonly parent?: string
}

/** Asks for a grant to act on behalf of a user. Throws `forbidden` if the cloud refuses it. */
export async function askGrant(cells: Cells, requested: GrantRequest): Promise<string> {
  const answer = await cells.report({ method: 'POST', path: '/machine/v1/grants', body: requested })
  const { id } = answer as { readonly id?: unknown }
  if (typeof id === 'string') return id
  throw new Fault('unavailable', 'the cloud returned no grant id')
}

/** Ends a grant; it authorizes nothing from then on, even if a request for it is still in progress. Safe to repeat. */
export async function endGrant(cells: Cells, id: string): Promise<void> {
  await cells.report({ method: 'DELETE', path: `/machine/v1/grants/${encodeURIComponent(id)}` })
}

/** A client of the cloud with the permissions of this grant. */
export function cloudOf(cells: Cells, grant: string): Cloud {
  const ask: SendRequest = ({ method, path, headers, body, signal }) =>
    cells.ask({
      method,
      path,
      headers: { ...headers, 'skerry-grant': grant },
      ...(body !== undefined && { text: body }),
      ...(signal && { signal }),
    })
  return new Cloud(ask)
}
