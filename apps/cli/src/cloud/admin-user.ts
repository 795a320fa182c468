import { inside } from '@skerry/cloud-client'
import { attribute } from '@skerry/xml'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'
import { adminOrg, ownOrg } from './admin-org.ts'

export interface AccountName {
  readonly user: string
  readonly org: string
}

/** USER or USER@ORG; the organisation defaults to the caller's. */
export function accountIn(side: CloudSession, word: string): AccountName {
  const at = word.lastIndexOf('@')
  return at < 0
    ? { user: word, org: ownOrg(side) }
    : { user: word.slice(0, at), org: word.slice(at + 1) }
}

/** The href of a user in the admin API. */
export async function userHref(side: CloudSession, { user, org }: AccountName): Promise<string> {
  const found = inside(await adminOrg(side, org), 'Users', 'UserReference').find(
    (each) => attribute(each, 'name') === user,
  )
  const href = attribute(found, 'href')
  if (href !== undefined) return href
  throw new Failure('refused', `there is no user ${user}@${org}`, {
    hint: `skerry user list --org ${org} lists them`,
  })
}
