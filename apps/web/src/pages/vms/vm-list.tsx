import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { useNavigate } from 'react-router'

import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { Chips, FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import { Grid } from '../../components/grid/grid.tsx'
import { useIsNarrow } from '../../components/use-media.ts'
import { useWidth } from '../../components/use-width.ts'
import { density, rowHeightOf } from '../../data/preferences.ts'
import { useSession } from '../../data/session.ts'
import { useStore } from '../../data/store.ts'
import { useTasks } from '../../data/use-documents.ts'
import { useCounts, useRecordList } from '../../data/use-record-list.ts'
import { parseFilter, queryFilter } from '../../model/filter.ts'
import { openTasksByObject } from '../../model/task.ts'
import { vmRowOf, type ListedVm } from '../../model/vm.ts'
import { en } from '../../text/en.ts'
import { BulkBar } from './bulk-bar.tsx'
import { vmColumns } from './columns.tsx'
import { NarrowVmRow } from './narrow-row.tsx'
import { NoMatch, NoVms } from './no-vms.tsx'
import { VmPreview } from './preview.tsx'
import { RowMenu, type OpenedRow } from './row-menu.tsx'
import { vmListSchema } from './search.ts'
import { useRowActions } from './use-row-actions.ts'
import { useSelection, type Selection } from './use-selection.ts'

import page from '../../styles/page.module.css'
import style from './vm-list.module.css'

const statuses = ['', 'on', 'off', 'suspended', 'unknown'] as const
/** The address follows the scrollbar when it rests. */
const REST_MS = 400

export function VmList({ isAdministration = false }: { readonly isAdministration?: boolean }) {
  const [search, change] = useSearch(vmListSchema)
  const type = isAdministration ? 'adminVM' : 'vm'
  const { terms, unknown } = useMemo(
    () => parseFilter(search.q, isAdministration),
    [search.q, isAdministration],
  )
  const filter = queryFilter(terms, search.status)
  const list = useRecordList({
    type,
    filter,
    sort: search.sort,
    toRow: vmRowOf,
    initialRow: search.row,
  })
  const counts = useCounts(
    type,
    statuses.map((status) => queryFilter(terms, status)),
    // The rows first: the counts would compete with them for the cell.
    { isEnabled: list.total !== undefined || list.error !== undefined },
  )
  const title = isAdministration ? 'All VMs' : 'Virtual machines'
  usePageTitle({ text: title, total: list.total })
  const selection = useSelection(type, filter, search.sort)
  const [opened, setOpened] = useState<OpenedRow>()
  const isNarrow = useIsNarrow()
  const rowHeight = rowHeightOf(useStore(density))
  const onAction = useRowActions({
    previewed: search.preview,
    onPreview: (preview) => change({ preview }, 'replace'),
    onSelect: selection.toggle,
    onMenu: setOpened,
  })
  const box = useRef<HTMLDivElement>(null)
  const columns = useColumns(isAdministration, useWidth(box), selection, setOpened)
  const onVisible = useFollowingAddress(list.onVisible, (row) => change({ row }, 'replace'))
  const narrow = useCallback(
    (row: ListedVm) => <NarrowVmRow row={row} onMenu={(anchor) => setOpened({ row, anchor })} />,
    [],
  )
  return (
    <div className={page['page']}>
      {selection.isAll || selection.rows.size > 0 ? (
        <BulkBar
          selection={selection}
          filter={filter}
          total={list.total ?? 0}
          isAdministration={isAdministration}
        />
      ) : (
        <FilterBar action={<CreateButton />}>
          <FilterInput
            value={search.q}
            unknown={unknown}
            placeholder={
              isAdministration
                ? 'Filter: web*  org:blue  host:host-7'
                : 'Filter: web*  vapp:shop  mem>4g'
            }
            onChange={(q) => change({ q, row: 0 }, 'replace')}
          />
          <Chips
            label="State"
            value={search.status}
            options={statuses.map((value, at) => ({
              value,
              text: value === '' ? 'All' : en.power[value],
              count: counts[at],
            }))}
            onChange={(status) => change({ status, row: 0 })}
          />
        </FilterBar>
      )}
      <div className={style['split']}>
        <div className={page['list']} ref={box}>
          <Grid
            key={filter}
            label={title}
            columns={columns}
            total={list.total}
            rowAt={list.rowAt}
            keyOf={(row) => row.id}
            sort={search.sort}
            onSort={(sort) => change({ sort, row: 0 })}
            onVisible={onVisible}
            isSelected={(row) => selection.isAll || selection.rows.has(row.id)}
            previewed={search.preview}
            rowHeight={rowHeight}
            initialRow={search.row}
            onAction={onAction}
            narrow={isNarrow ? narrow : undefined}
            failed={list.error && <ErrorState error={list.error} />}
            empty={
              filter === '' ? (
                <NoVms />
              ) : (
                <NoMatch filter={filter} onReset={() => change({ q: '', status: '', row: 0 })} />
              )
            }
          />
        </div>
        {search.preview !== '' && !isNarrow && (
          <VmPreview id={search.preview} onClose={() => change({ preview: '' }, 'replace')} />
        )}
      </div>
      <RowMenu opened={opened} onClose={() => setOpened(undefined)} />
    </div>
  )
}

function CreateButton() {
  const { rights, role } = useSession()
  const navigate = useNavigate()
  return (
    <Button
      tone="primary"
      icon="plus"
      unavailable={rights.has('vm:edit') ? undefined : en.missingRight(role, 'vm:edit')}
      onClick={() => void navigate(paths.newVm)}
    >
      Create VM
    </Button>
  )
}

function useColumns(
  isAdministration: boolean,
  width: number,
  { rows, isAll, toggle }: Pick<Selection, 'rows' | 'isAll' | 'toggle'>,
  openMenu: (opened: OpenedRow) => void,
) {
  const { data } = useTasks()
  const tasks = useMemo(() => openTasksByObject(data?.tasks), [data])
  return useMemo(
    () =>
      vmColumns({
        isAdministration,
        width,
        isSelected: ({ id }) => isAll || rows.has(id),
        toggle,
        tasks,
        onMenu: (row, anchor) => openMenu({ row, anchor }),
      }),
    [isAdministration, width, rows, isAll, toggle, tasks, openMenu],
  )
}

function useFollowingAddress(
  onVisible: (first: number, last: number) => void,
  setRow: (row: number) => void,
) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef(setRow)
  latest.current = setRow
  useEffect(() => () => clearTimeout(timer.current), [])
  return useCallback(
    (first: number, last: number) => {
      onVisible(first, last)
      clearTimeout(timer.current)
      timer.current = setTimeout(() => latest.current(first), REST_MS)
    },
    [onVisible],
  )
}
