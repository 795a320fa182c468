import { useParams } from 'react-router'

import type { AdminOrgDocument } from '../../api/documents.ts'
import { linkOf } from '../../api/documents.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import { OrgTabs } from './org-tabs.tsx'

import page from '../../styles/page.module.css'

/** An organisation, for administrators of the cloud. */
export function AdminOrgPage() {
  const href = `/api/admin/org/${useParams()['org'] ?? ''}`
  const { data: org } = useDocument<AdminOrgDocument>(href)
  usePageTitle({ text: 'Organisations', to: paths.adminOrgs }, { text: org?.name ?? '…' })
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      {org && <EnableButton org={org} />}
      <OrgTabs href={href} />
    </div>
  )
}

function EnableButton({ org }: { readonly org: AdminOrgDocument }) {
  const { makeChange } = useChange()
  const rel = org.isEnabled ? 'disable' : 'enable'
  const href = linkOf(org, rel)
  return (
    <div className={page['tools']}>
      <span className={`${page['state']} ${org.isEnabled ? page['good'] : page['idle']}`}>
        {org.isEnabled ? 'Enabled' : 'Disabled'}
      </span>
      <Button
        small
        unavailable={href === undefined ? 'your role may not change organisations' : undefined}
        onClick={() =>
          makeChange({
            href: href ?? '',
            method: 'POST',
            success: `${org.isEnabled ? 'Disabled' : 'Enabled'} ${org.name}`,
            failure: `${org.name} was not changed`,
          })
        }
      >
        {org.isEnabled ? 'Disable' : 'Enable'}
      </Button>
    </div>
  )
}
