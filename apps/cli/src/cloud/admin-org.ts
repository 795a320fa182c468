import { inside } from '@skerry/cloud-client'
import { attribute, type Element } from '@skerry/xml'

import type { CloudSession } from '../vms/cloud-session.ts'
import { kinds, notThere } from './named.ts'

/** The organisation of the logged-in user: the part after the last @. */
export const ownOrg = ({ profile }: CloudSession): string =>
  profile.user.slice(profile.user.lastIndexOf('@') + 1)

/** The administrators' view of an organisation (default: the user's own). */
export async function adminOrg(side: CloudSession, name = ownOrg(side)): Promise<Element> {
  const admin = await side.cloud.get('/api/admin')
  const found = inside(admin, 'Organizations', 'Organization').find(
    (each) => attribute(each, 'name') === name,
  )
  if (!found) throw notThere(kinds.org, name)
  return side.cloud.get(attribute(found, 'href') ?? '')
}
