import { useEffect, type ReactNode } from 'react'
import { useParams } from 'react-router'

import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { cancelTask } from '../../app/task-table.tsx'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { currentVm } from '../../data/page-state.ts'
import { useTasks, useVm } from '../../data/use-documents.ts'
import { choiceParam } from '../../model/search-params.ts'
import { isOpen, type ShownTask } from '../../model/task.ts'
import type { VmDetails } from '../../model/vm.ts'
import { en } from '../../text/en.ts'
import { ActivityTab } from './activity-tab.tsx'
import { HardwareTab } from './hardware-tab.tsx'
import { VmHeader } from './header.tsx'
import { MetadataTab } from './metadata-tab.tsx'
import { NetworksTab } from './networks-tab.tsx'
import { OverviewTab } from './overview-tab.tsx'
import { SnapshotCard } from './snapshot-card.tsx'

import page from '../../styles/page.module.css'
import style from './page.module.css'

const schema = {
  tab: choiceParam(
    ['overview', 'snapshots', 'hardware', 'networks', 'metadata', 'activity'],
    'overview',
  ),
}
type Tab = (typeof schema.tab)['default']

export function VmPage() {
  const id = useParams()['vm'] ?? ''
  const { data: vm, error, refetch } = useVm(id)
  usePageTitle({ text: 'Virtual machines', to: paths.vms }, { text: vm?.name ?? '…' })
  useEffect(() => {
    currentVm.set(id)
    return () => currentVm.set('')
  }, [id])
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!vm) return <div className={page['page']} aria-busy="true" />
  return <Vm vm={vm} />
}

function Vm({ vm }: { readonly vm: VmDetails }) {
  const [{ tab }, change] = useSearch(schema)
  const { data } = useTasks()
  const running = data?.tasks.find((task) => task.objectId === vm.id && isOpen(task))
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <VmHeader vm={vm} doing={running && en.operation(running.operation, false)} />
      {running && <RunningTask task={running} />}
      {vm.power === 'unknown' && <HostSilent vm={vm} />}
      <Tabs
        label={`Parts of ${vm.name}`}
        value={tab}
        onChange={(next: Tab) => change({ tab: next })}
        tabs={[
          { value: 'overview', text: 'Overview' },
          { value: 'snapshots', text: 'Snapshots', count: vm.snapshot ? 1 : 0 },
          { value: 'hardware', text: 'Hardware' },
          { value: 'networks', text: 'Networks', count: vm.cards?.length },
          { value: 'metadata', text: 'Metadata' },
          { value: 'activity', text: 'Activity' },
        ]}
      >
        {tabContents[tab](vm)}
      </Tabs>
    </div>
  )
}

const tabContents: Readonly<Record<Tab, (vm: VmDetails) => ReactNode>> = {
  overview: (vm) => <OverviewTab vm={vm} />,
  snapshots: (vm) => <SnapshotCard vm={vm} />,
  hardware: (vm) => <HardwareTab key={vm.id} vm={vm} />,
  networks: (vm) => <NetworksTab vm={vm} />,
  metadata: (vm) => <MetadataTab href={`${vm.href}/metadata`} vm={vm.name} />,
  activity: (vm) => <ActivityTab objectName={vm.name} objectId={vm.id} />,
}

const RunningTask = ({ task }: { readonly task: ShownTask }) => (
  <div className={style['busy']} role="status">
    <span>
      {en.operation(task.operation, false)} <b>{task.object}</b>, started by {task.owner}
    </span>
    <ProgressBar percent={task.progress} label={`Progress of ${task.object}`} />
    <span>{task.progress} %</span>
    <Button small onClick={() => void cancelTask(task)}>
      Cancel
    </Button>
  </div>
)

const HostSilent = ({ vm }: { readonly vm: VmDetails }) => (
  <p className={style['warning']} role="alert">
    Its host does not answer
    {vm.lastSeen !== undefined && (
      <>
        {' '}
        since <RelativeTime time={vm.lastSeen} />
      </>
    )}
    . The VM may still be running. Actions are available when the host is back.
  </p>
)
