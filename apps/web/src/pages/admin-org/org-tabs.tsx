import type { AdminOrgDocument } from '../../api/documents.ts'
import { useSearch } from '../../app/use-search.ts'
import { ErrorState } from '../../components/empty-state.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useDocument } from '../../data/use-documents.ts'
import { choiceParam } from '../../model/search-params.ts'
import { LeasesTab } from './leases-tab.tsx'
import { QuotaTab } from './quota-tab.tsx'
import { UsageTab } from './usage-tab.tsx'
import { UsersTab } from './users-tab.tsx'
import { VdcsTab } from './vdcs-tab.tsx'

const schema = { tab: choiceParam(['users', 'quota', 'usage', 'leases', 'vdcs'], 'users') }
type Tab = (typeof schema.tab)['default']

/** Users, quota, usage, leases and data centres of an organisation. */
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
        { value: 'quota', text: 'Quota' },
        { value: 'usage', text: 'Usage' },
        { value: 'leases', text: 'Leases' },
        { value: 'vdcs', text: 'Data centres', count: org.vdcs?.vdc?.length },
      ]}
    >
      {tab === 'users' && <UsersTab org={org} />}
      {tab === 'quota' && <QuotaTab key={org.href} org={org} />}
      {tab === 'usage' && <UsageTab key={org.href} org={org} />}
      {tab === 'leases' && <LeasesTab key={org.href} org={org} />}
      {tab === 'vdcs' && <VdcsTab org={org} />}
    </Tabs>
  )
}
