import { Cloud, type Ask } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'

import type { Cells } from './cells.ts'

export interface AskedGrant {
  /** Whose definition it is. */
  readonly org: OrgId
  readonly account: UserId
  readonly kind: 'run' | 'schedule'
  /** A schedule's, or that of the run that starts this one: where nobody stands there who asks. */
  readonly parent?: string
}

/** Leave to act in somebody's name. `forbidden` where the cloud gives none. */
export async function askGrant(cells: Cells, asked: AskedGrant): Promise<string> {
  const said = await cells.tell({ method: 'POST', path: '/machine/v1/grants', body: asked })
  const { id } = said as { readonly id?: unknown }
  if (typeof id === 'string') return id
  throw new Fault('unavailable', 'the cloud gave no grant')
}

/** From now on nothing is done by it. May be asked again. */
export async function endGrant(cells: Cells, id: string): Promise<void> {
  await cells.tell({ method: 'DELETE', path: `/machine/v1/grants/${encodeURIComponent(id)}` })
}

/** The cloud as the run that holds this grant sees it. */
export function cloudOf(cells: Cells, grant: string): Cloud {
  const ask: Ask = ({ method, path, headers, body, signal }) =>
    cells.ask({
      ...{ method, path },
      headers: { ...headers, 'skerry-grant': grant },
      ...(body !== undefined && { text: body }),
      ...(signal && { signal }),
    })
  return new Cloud(ask)
}
