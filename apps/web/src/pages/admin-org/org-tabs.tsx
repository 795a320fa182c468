import type { AdminOrgDocument } from '../../api/documents.ts'
import { useSearch } from '../../app/use-search.ts'
import { ErrorState } from '../../components/empty-state.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useDocument } from '../../data/use-documents.ts'
import { choiceParam } from '../../model/search-params.ts'
import { LeasesTab } from './leases-tab.tsx'
import { QuotaTab } from './quota-tab.tsx'
import { RolesTab } from './roles/roles-tab.tsx'
import { UsageTab } from './usage-tab.tsx'
import { UsersTab } from './users-tab.tsx'
import { VdcsTab } from './vdcs-tab.tsx'
import { WebhooksTab } from './webhooks/webhooks-tab.tsx'

const tabs = ['users', 'roles', 'quota', 'usage', 'leases', 'vdcs', 'webhooks'] as const
const schema = { tab: choiceParam(tabs, 'users') }
type Tab = (typeof schema.tab)['default']

/** Users, roles, quota, usage, leases, data centres and webhooks of an organisation. */
export function OrgTabs({ href }: { readonly href: string }) {
  const { data: org, error, refetch } = useDocument<AdminOrgDocument>(href)
  const [{ tab }, change] = useSearch(schema)
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!org) return null
  return (
    <Tabs
      label={`Parts of ${org.name}`}
      value={tab}
      onChange={(next: Tab) => change({ tab: next })}
      tabs={[
        { value: 'users', text: 'Users', count: org.users?.userReference?.length },
        { value: 'roles', text: 'Roles' },
        { value: 'quota', text: 'Quota' },
        { value: 'usage', text: 'Usage' },
        { value: 'leases', text: 'Leases' },
        { value: 'vdcs', text: 'Data centres', count: org.vdcs?.vdc?.length },
        { value: 'webhooks', text: 'Webhooks' },
      ]}
    >
      {tab === 'users' && <UsersTab org={org} />}
      {tab === 'roles' && <RolesTab key={org.href} org={org} />}
      {tab === 'quota' && <QuotaTab key={org.href} org={org} />}
      {tab === 'usage' && <UsageTab key={org.href} org={org} />}
      {tab === 'leases' && <LeasesTab key={org.href} org={org} />}
      {tab === 'vdcs' && <VdcsTab org={org} />}
      {tab === 'webhooks' && <WebhooksTab key={org.href} org={org} />}
    </Tabs>
  )
}
