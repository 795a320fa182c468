import { inside } from '@skerry/cloud-client'
import { attribute, type Element } from '@skerry/xml'

import { kinds, notThere } from './cloud-named.ts'
import type { CloudSide } from './cloud-side.ts'

/** The organisation of who is logged in: it stands behind the last @. */
export const ownOrg = ({ profile }: CloudSide): string =>
  profile.user.slice(profile.user.lastIndexOf('@') + 1)

/** An organisation as its administrators see it; one's own unless it is named. */
export async function adminOrg(side: CloudSide, name = ownOrg(side)): Promise<Element> {
  const admin = await side.cloud.get('/api/admin')
  const found = inside(admin, 'Organizations', 'Organization').find(
    (each) => attribute(each, 'name') === name,
  )
  if (!found) throw notThere(kinds.org, name)
  return side.cloud.get(attribute(found, 'href') ?? '')
}
