import { useState } from 'react'
import { Link } from 'react-router'

import { idOf, pathOf } from '../../api/client.ts'
import { linkOf, type ConsoleDocument, type ConsolesDocument } from '../../api/documents.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'
import { useSession } from '../../data/session.ts'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import { curlCommand } from '../../model/commands.ts'
import { textParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'
import { formatBytes } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const CONSOLES = '/api/admin/consoles'
/** No event reports how much was transferred. */
const READ_MS = 10_000
const schema = { q: textParam() }

export function ConsolesPage() {
  const { data, error, refetch } = useDocument<ConsolesDocument>(CONSOLES, READ_MS)
  const [search, change] = useSearch(schema)
  const [closing, setClosing] = useState<ConsoleDocument>()
  const { makeChange } = useChange()
  const { role } = useSession()
  usePageTitle({ text: 'Open consoles' })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  const word = search.q.toLowerCase()
  const rows = (data?.console ?? []).filter(({ userName, vmName, orgName }) =>
    [userName, vmName, orgName].some((text) => text.toLowerCase().includes(word)),
  )
  const close = (open: ConsoleDocument): void => {
    setClosing(undefined)
    makeChange({
      href: linkOf(open, 'remove') ?? '',
      method: 'DELETE',
      success: `Closed the console of ${open.vmName}`,
      failure: `The console of ${open.vmName} was not closed`,
    })
  }
  const tools: PageTableColumn<ConsoleDocument> = {
    key: 'tools',
    title: 'Actions',
    isTitleHidden: true,
    isNumeric: true,
    isEssential: true,
    cell: (open) => (
      <Button
        small
        tone="plain"
        icon="close"
        unavailable={linkOf(open, 'remove') ? undefined : en.missingRight(role, 'cloud:admin')}
        onClick={() => setClosing(open)}
      >
        Close
      </Button>
    ),
  }
  return (
    <div className={`${page['page']} ${page['scrolling']}`} aria-busy={!data}>
      <FilterBar>
        <FilterInput
          value={search.q}
          placeholder="Filter by user, VM or organisation"
          onChange={(q) => change({ q }, 'replace')}
        />
      </FilterBar>
      <Card flush>
        <Table
          label="Open consoles"
          rows={rows}
          keyOf={({ id }) => id}
          empty={
            search.q === '' ? 'No one watches a VM now.' : 'No open console matches this filter.'
          }
          columns={[...columns, tools]}
        />
      </Card>
      <CommandLine text="sudo skerry admin console list" />
      {closing && (
        <ConfirmDialog
          title={`Close the console of ${closing.vmName}`}
          action="Close"
          icon="close"
          onClose={() => setClosing(undefined)}
          onConfirm={() => close(closing)}
        >
          <p>
            {closing.userName} no longer sees the screen, and may open it again. To prevent that,
            disable the user.
          </p>
          <CommandLine text={curlCommand('DELETE', pathOf(linkOf(closing, 'remove') ?? ''))} />
        </ConfirmDialog>
      )}
    </div>
  )
}

const columns: readonly PageTableColumn<ConsoleDocument>[] = [
  { key: 'user', title: 'User', isEssential: true, cell: ({ userName }) => userName },
  {
    key: 'vm',
    title: 'VM',
    isEssential: true,
    cell: ({ vm, vmName }) => (
      <Link className={page['strong']} to={paths.vm(idOf(vm))}>
        {vmName}
      </Link>
    ),
  },
  {
    key: 'org',
    title: 'Organisation',
    cell: ({ orgName }) => <span className={page['soft']}>{orgName}</span>,
  },
  {
    key: 'opened',
    title: 'Opened',
    isEssential: true,
    cell: ({ openedAt }) => <RelativeTime time={openedAt} />,
  },
  {
    key: 'from',
    title: 'From',
    cell: ({ userAddress }) => <span className={page['mono']}>{userAddress}</span>,
  },
  { key: 'server', title: 'Console server', cell: ({ server }) => server },
  {
    key: 'bytes',
    title: 'Transferred',
    isNumeric: true,
    cell: ({ bytes }) => formatBytes(bytes),
  },
]
