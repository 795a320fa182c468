import { usePageTitle } from '../../app/page-title.ts'
import { ErrorState } from '../../components/empty-state.tsx'
import { useSession } from '../../data/session.ts'
import { useOwnOrgHref } from '../../data/use-own-org.ts'
import { OrgTabs } from '../admin-org/org-tabs.tsx'

import page from '../../styles/page.module.css'

/** The user's own organisation, for its administrators. */
export function OrgPage() {
  const { org } = useSession()
  usePageTitle({ text: `Organisation ${org}` })
  const { href, error, refetch } = useOwnOrgHref()
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      {href !== undefined && <OrgTabs href={href} />}
    </div>
  )
}
