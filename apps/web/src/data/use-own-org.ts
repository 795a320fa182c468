// The user's own organisation as its administrators see it.
import type { AdminDocument, AdminOrgDocument } from '../api/documents.ts'
import { useSession } from './session.ts'
import { useDocument } from './use-documents.ts'

export function useOwnOrgHref(isEnabled = true) {
  const { org } = useSession()
  const { data, error, refetch } = useDocument<AdminDocument>(isEnabled ? '/api/admin' : undefined)
  const own = data?.organizations?.organization?.find(({ name }) => name === org)
  return { href: own?.href, error, refetch }
}

/** For a user who does not administer it nothing is read. */
export function useOwnOrg() {
  const { rights } = useSession()
  const { href } = useOwnOrgHref(rights.has('org:admin'))
  return useDocument<AdminOrgDocument>(href)
}
