import type { AdminDocument } from '../../api/documents.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { ErrorState } from '../../components/empty-state.tsx'
import { useSession } from '../../data/session.ts'
import { useDocument } from '../../data/use-documents.ts'
import { OrgTabs } from '../admin-org/org-tabs.tsx'

import page from '../../styles/page.module.css'

/** The user's own organisation, for its administrators. */
export function OrgPage() {
  const { org } = useSession()
  usePageTitle({ text: `Organisation ${org}` })
  const { data: admin, error, refetch } = useDocument<AdminDocument>('/api/admin')
  const href = admin?.organizations?.organization?.find(({ name }) => name === org)?.href
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      {href !== undefined && <OrgTabs href={href} />}
    </div>
  )
}
