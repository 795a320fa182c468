// The VMs of this machine: all of them are read at once, and filtered and sorted in the browser.
import { useCallback, useMemo, useRef, useState } from 'react'
import { useNavigate } from 'react-router'

import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { Chips, FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import { Grid } from '../../components/grid/grid.tsx'
import { useIsNarrow } from '../../components/use-media.ts'
import { useWidth } from '../../components/use-width.ts'
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
import { VmPreview } from '../vms/preview.tsx'
import type { SelectableRows } from '../vms/row-columns.tsx'
import { RowMenu, type OpenedRow } from '../vms/row-menu.tsx'
import { useRowActions } from '../vms/use-row-actions.ts'
import { MachineBulkBar } from './bulk-bar.tsx'
import { machineVmColumns } from './columns.tsx'
import { OutcomeDialog } from './outcome-dialog.tsx'
import { useChosenVms } from './use-chosen-vms.ts'

import page from '../../styles/page.module.css'
import list from '../vms/vm-list.module.css'

const statuses = ['', 'on', 'off', 'suspended', 'paused', 'unknown'] as const
const schema = {
  q: textParam(),
  status: choiceParam(statuses, ''),
  sort: textParam('name'),
  preview: textParam(),
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
  const selection = useChosenVms(vms)
  const isNarrow = useIsNarrow()
  const rowHeight = rowHeightOf(useStore(density))
  const box = useRef<HTMLDivElement>(null)
  const columns = useColumns(useWidth(box), selection, setOpened)
  const narrow = useCallback(
    (row: MachineVm) => <NarrowVmRow row={row} onMenu={(anchor) => setOpened({ row, anchor })} />,
    [],
  )
  const onAction = useRowActions({
    previewed: search.preview,
    onPreview: (preview) => change({ preview }, 'replace'),
    onSelect: selection.toggle,
    onMenu: setOpened,
  })
  return (
    <div className={page['page']}>
      {selection.chosen.length > 0 ? (
        <MachineBulkBar chosen={selection.chosen} shown={rows} onChoose={selection.choose} />
      ) : (
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
      )}
      <div className={list['split']}>
        <div className={page['list']} ref={box}>
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
            isSelected={selection.isSelected}
            previewed={search.preview}
            rowHeight={rowHeight}
            onAction={onAction}
            narrow={isNarrow ? narrow : undefined}
            failed={error && <ErrorState error={error} />}
            empty={
              vms?.length === 0 ? (
                <NoVms />
              ) : (
                <NoMatch onReset={() => change({ q: '', status: '' })} />
              )
            }
          />
        </div>
        {search.preview !== '' && !isNarrow && (
          <VmPreview id={search.preview} onClose={() => change({ preview: '' }, 'replace')} />
        )}
      </div>
      <RowMenu opened={opened} onClose={() => setOpened(undefined)} />
      <OutcomeDialog />
    </div>
  )
}

function useColumns(
  width: number,
  { isSelected, toggle }: SelectableRows,
  openMenu: (opened: OpenedRow) => void,
) {
  const { data } = useTasks()
  return useMemo(
    () =>
      machineVmColumns({
        width,
        isSelected,
        toggle,
        tasks: openTasksByObject(data?.tasks),
        onMenu: (row, anchor) => openMenu({ row, anchor }),
      }),
    [width, isSelected, toggle, data, openMenu],
  )
}

const NoMatch = ({ onReset }: { readonly onReset: () => void }) => (
  <EmptyState title="No VM matches this filter">
    <p>Examples: web*, ip:10.83.*, mem&gt;4g.</p>
    <Button onClick={onReset}>Show all</Button>
  </EmptyState>
)

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
