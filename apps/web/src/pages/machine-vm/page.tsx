import { useEffect, type ReactNode } from 'react'
import { useParams } from 'react-router'

import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { ErrorState } from '../../components/empty-state.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { useForwards, useMachineVm, useSnapshots } from '../../data/machine/use-machine.ts'
import { currentVm } from '../../data/page-state.ts'
import { useTasks } from '../../data/use-documents.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'
import { choiceParam } from '../../model/search-params.ts'
import { isOpen } from '../../model/task.ts'
import { en } from '../../text/en.ts'
import { VmHeader } from '../vm/header.tsx'
import { FoldersTab } from './folders-tab.tsx'
import { ForwardsTab } from './forwards-tab.tsx'
import { LogTab } from './log-tab.tsx'
import { OverviewTab } from './overview-tab.tsx'
import { SettingsTab } from './settings-tab.tsx'
import { SnapshotsTab } from './snapshots-tab.tsx'

import page from '../../styles/page.module.css'
import style from './page.module.css'

const schema = {
  tab: choiceParam(['overview', 'snapshots', 'hardware', 'folders', 'forwards', 'log'], 'overview'),
}
type Tab = (typeof schema.tab)['default']

const tabContents: Readonly<Record<Tab, (vm: MachineVm) => ReactNode>> = {
  overview: (vm) => <OverviewTab vm={vm} />,
  snapshots: (vm) => <SnapshotsTab vm={vm} />,
  hardware: (vm) => <SettingsTab key={vm.id} vm={vm} />,
  folders: (vm) => <FoldersTab vm={vm} />,
  forwards: (vm) => <ForwardsTab vm={vm} />,
  log: (vm) => <LogTab vm={vm} />,
}

export function MachineVmPage() {
  const id = useParams()['vm'] ?? ''
  const { data: vm, error, refetch } = useMachineVm(id)
  usePageTitle({ text: 'Virtual machines', to: paths.vms }, { text: vm?.name ?? id })
  useEffect(() => {
    currentVm.set(id)
    return () => currentVm.set('')
  }, [id])
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!vm) return <div className={page['page']} aria-busy="true" />
  return <Vm vm={vm} />
}

function Vm({ vm }: { readonly vm: MachineVm }) {
  const [{ tab }, change] = useSearch(schema)
  const { data } = useTasks()
  const { data: snapshots } = useSnapshots(vm.id)
  const { data: forwards } = useForwards(vm.id)
  const running = data?.tasks.find((task) => task.objectId === vm.id && isOpen(task))
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <VmHeader vm={vm} doing={running && en.operation(running.operation, false)} />
      {vm.problem !== undefined && (
        <p className={style['warning']} role="alert">
          {vm.problem}
        </p>
      )}
      <Tabs
        label={`Parts of ${vm.name}`}
        value={tab}
        onChange={(next: Tab) => change({ tab: next })}
        tabs={[
          { value: 'overview', text: 'Overview' },
          { value: 'snapshots', text: 'Snapshots', count: snapshots?.length },
          { value: 'hardware', text: 'Hardware' },
          { value: 'folders', text: 'Shared folders' },
          { value: 'forwards', text: 'Port forwards', count: forwards?.length },
          { value: 'log', text: 'Log' },
        ]}
      >
        {tabContents[tab](vm)}
      </Tabs>
    </div>
  )
}
