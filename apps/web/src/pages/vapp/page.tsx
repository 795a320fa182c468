import { useParams } from 'react-router'

import { pathOf } from '../../api/client.ts'
import type { VAppDocument } from '../../api/documents.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { SharingTab } from '../../app/sharing/sharing-tab.tsx'
import { useSearch } from '../../app/use-search.ts'
import { ErrorState } from '../../components/empty-state.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useDocument } from '../../data/use-documents.ts'
import { choiceParam } from '../../model/search-params.ts'
import { ActivityTab } from '../vm/activity-tab.tsx'
import { MetadataTab } from '../vm/metadata-tab.tsx'
import { VappHeader } from './header.tsx'
import { LeaseTab } from './lease-tab.tsx'
import { VmsTab } from './vms-tab.tsx'

import page from '../../styles/page.module.css'

const schema = { tab: choiceParam(['vms', 'lease', 'metadata', 'sharing', 'activity'], 'vms') }
type Tab = (typeof schema.tab)['default']

export function VAppPage() {
  const id = useParams()['vapp'] ?? ''
  const {
    data: vapp,
    error,
    refetch,
  } = useDocument<VAppDocument>(`/api/vApp/${id}?unavailable=true`)
  const [{ tab }, change] = useSearch(schema)
  usePageTitle({ text: 'vApps', to: paths.vapps }, { text: vapp?.name ?? '…' })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!vapp) return <div className={page['page']} aria-busy="true" />
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <VappHeader id={id} vapp={vapp} />
      <Tabs
        label={`Parts of ${vapp.name}`}
        value={tab}
        onChange={(next: Tab) => change({ tab: next })}
        tabs={[
          { value: 'vms', text: 'VMs', count: vapp.children?.vm?.length },
          { value: 'lease', text: 'Lease' },
          { value: 'metadata', text: 'Metadata' },
          { value: 'sharing', text: 'Sharing' },
          { value: 'activity', text: 'Activity' },
        ]}
      >
        {tab === 'vms' && <VmsTab vapp={vapp} />}
        {tab === 'lease' && <LeaseTab vapp={vapp} />}
        {tab === 'metadata' && <MetadataTab href={`${pathOf(vapp.href)}/metadata`} />}
        {tab === 'sharing' && (
          <SharingTab object={{ kind: 'vapp', name: vapp.name }} document={vapp} />
        )}
        {tab === 'activity' && <ActivityTab objectName={vapp.name} objectId={id} />}
      </Tabs>
    </div>
  )
}
