// The VMs of this machine: all of them are read at once, and filtered and sorted in the browser.
import { useCallback, useMemo, useState } from 'react'
import { useNavigate } from 'react-router'

import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { Chips, FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import type { GridAction } from '../../components/grid/grid-column.ts'
import { Grid } from '../../components/grid/grid.tsx'
import { useIsNarrow } from '../../components/use-media.ts'
import { useMachineVms } from '../../data/machine/use-machine.ts'
import { density, rowHeightOf } from '../../data/preferences.ts'
import { useStore } from '../../data/store.ts'
import { useTasks } from '../../data/use-documents.ts'
import { parseFilter } from '../../model/filter.ts'
import { matchesFilter, sortedVms, type MachineVm } from '../../model/machine/machine-vm.ts'
import { choiceParam, textParam } from '../../model/search-params.ts'
import { openTasksByObject } from '../../model/task.ts'
import { en } from '../../text/en.ts'
import { NarrowVmRow } from '../vms/narrow-row.tsx'
import { RowMenu, type OpenedRow } from '../vms/row-menu.tsx'
import { machineVmColumns } from './columns.tsx'

import page from '../../styles/page.module.css'

const statuses = ['', 'on', 'off', 'suspended', 'paused', 'unknown'] as const
const schema = {
  q: textParam(),
  status: choiceParam(statuses, ''),
  sort: textParam('name'),
}
const TITLE = 'Virtual machines'
const ignore = (): void => undefined

export function MachineVmsPage() {
  const [search, change] = useSearch(schema)
  const { data: vms, error } = useMachineVms()
  const { terms, unknown } = useMemo(() => parseFilter(search.q), [search.q])
  const named = useMemo(() => vms?.filter((vm) => matchesFilter(vm, terms)) ?? [], [vms, terms])
  const rows = useMemo(() => {
    const shown = named.filter(({ power }) => search.status === '' || power === search.status)
    return sortedVms(shown, search.sort)
  }, [named, search.status, search.sort])
  usePageTitle({ text: TITLE, total: vms && rows.length })
  const [opened, setOpened] = useState<OpenedRow>()
  const navigate = useNavigate()
  const isNarrow = useIsNarrow()
  const rowHeight = rowHeightOf(useStore(density))
  const columns = useColumns(setOpened)
  const narrow = useCallback(
    (row: MachineVm) => <NarrowVmRow row={row} onMenu={(anchor) => setOpened({ row, anchor })} />,
    [],
  )
  const onAction = (action: GridAction, row: MachineVm, index: number): void => {
    const anchor = document.querySelector<HTMLElement>(`#row-${index} [aria-haspopup]`)
    if (action === 'menu' && anchor) setOpened({ row, anchor })
    if (action === 'open' || action === 'preview') void navigate(paths.vm(row.id))
  }
  return (
    <div className={page['page']}>
      <FilterBar action={<CreateButton />}>
        <FilterInput
          value={search.q}
          unknown={unknown}
          placeholder="Filter: web*  mem>4g  ip:10.83.*"
          onChange={(q) => change({ q }, 'replace')}
        />
        <Chips
          label="State"
          value={search.status}
          options={statuses.map((value) => ({
            value,
            text: value === '' ? 'All' : en.power[value],
            count: vms && named.filter(({ power }) => value === '' || power === value).length,
          }))}
          onChange={(status) => change({ status })}
        />
      </FilterBar>
      <div className={page['list']}>
        <Grid
          key={`${search.q} ${search.status}`}
          label={TITLE}
          columns={columns}
          total={vms && rows.length}
          rowAt={(index) => rows[index]}
          keyOf={(row) => row.id}
          sort={search.sort}
          onSort={(sort) => change({ sort })}
          onVisible={ignore}
          rowHeight={rowHeight}
          onAction={onAction}
          narrow={isNarrow ? narrow : undefined}
          failed={error && <ErrorState error={error} />}
          empty={
            vms?.length === 0 ? (
              <NoVms />
            ) : (
              <EmptyState title="No VM matches this filter">
                <p>Examples: web*, ip:10.83.*, mem&gt;4g.</p>
                <Button onClick={() => change({ q: '', status: '' })}>Show all</Button>
              </EmptyState>
            )
          }
        />
      </div>
      <RowMenu opened={opened} onClose={() => setOpened(undefined)} />
    </div>
  )
}

function useColumns(openMenu: (opened: OpenedRow) => void) {
  const { data } = useTasks()
  return useMemo(() => {
    const tasks = openTasksByObject(data?.tasks)
    return machineVmColumns(tasks, (row, anchor) => openMenu({ row, anchor }))
  }, [data, openMenu])
}

function CreateButton() {
  const navigate = useNavigate()
  return (
    <Button tone="primary" icon="plus" onClick={() => void navigate(paths.newVm)}>
      Create VM
    </Button>
  )
}

const NoVms = () => (
  <EmptyState
    title="No VMs yet"
    commands={
      <>
        <CommandLine text="skerry create my-vm --start" />
        <CommandLine text="skerry ssh my-vm" />
      </>
    }
  >
    <p>A VM is created from a template in a few seconds, here or on a terminal:</p>
    <CreateButton />
  </EmptyState>
)
