import { useState } from 'react'
import { Link, useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { AdminOrgDocument } from '../../api/documents.ts'
import type { OrgRecord } from '../../api/query.ts'
import { paths } from '../../app/paths.ts'
import { RecordGrid } from '../../app/record-grid.tsx'
import { useSearch } from '../../app/use-search.ts'
import { Button } from '../../components/button.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { TextField } from '../../components/field.tsx'
import { FilterBar, FilterInput } from '../../components/filter-bar.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { useSession } from '../../data/session.ts'
import { useChange } from '../../data/use-change.ts'
import { shellQuoted } from '../../model/commands.ts'
import { nameFilter } from '../../model/filter.ts'
import { textParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

const schema = { q: textParam(), sort: textParam('name') }

export function OrgsPage() {
  const [search, change] = useSearch(schema)
  const filter = nameFilter(search.q)
  const { rights, role } = useSession()
  const [isAdding, setAdding] = useState(false)
  const navigate = useNavigate()
  return (
    <div className={page['page']}>
      <FilterBar
        action={
          <Button
            tone="primary"
            icon="plus"
            unavailable={
              rights.has('cloud:admin') ? undefined : en.missingRight(role, 'cloud:admin')
            }
            onClick={() => setAdding(true)}
          >
            Create organisation
          </Button>
        }
      >
        <FilterInput
          value={search.q}
          placeholder="Filter by name"
          onChange={(q) => change({ q }, 'replace')}
        />
      </FilterBar>
      <RecordGrid
        title="Organisations"
        type="organization"
        filter={filter}
        sort={search.sort}
        onSort={(sort) => change({ sort })}
        columns={columns}
        narrow={narrowOrg}
        onOpen={(org) => void navigate(paths.adminOrg(idOf(org.href)))}
        empty={
          <EmptyState title="No organisation matches">
            <p>An organisation is a tenant with users, quota and data centres.</p>
          </EmptyState>
        }
      />
      {isAdding && <AddOrgDialog onClose={() => setAdding(false)} />}
    </div>
  )
}

const narrowOrg = (org: OrgRecord) => (
  <div className={page['narrowRow']}>
    <Link className={page['strong']} to={paths.adminOrg(idOf(org.href))}>
      {org.name}
    </Link>
    <small>
      {en.vms(org.numberOfVMs)}, {formatCount(org.numberOfRunningVMs)} running
    </small>
  </div>
)

function AddOrgDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const navigate = useNavigate()
  const { makeChange, isPending } = useChange<AdminOrgDocument>()
  return (
    <FormDialog
      title="Create organisation"
      onClose={onClose}
      onSubmit={() =>
        makeChange({
          href: '/api/admin/orgs',
          method: 'POST',
          body: { name },
          success: `Created ${name}`,
          failure: `${name} was not created`,
          onDone: (org) => void navigate(paths.adminOrg(idOf(org.href))),
        })
      }
      action="Create organisation"
      icon="plus"
      unavailable={
        isPending
          ? 'the organisation is being created'
          : name === ''
            ? 'the organisation needs a name'
            : undefined
      }
    >
      <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      <CommandLine text={`skerry org create ${shellQuoted(name || 'blue')}`} />
    </FormDialog>
  )
}

const columns: readonly GridColumn<OrgRecord>[] = [
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(10rem, 1.4fr)',
    sort: 'name',
    cell: (org) => (
      <Link className={page['strong']} to={paths.adminOrg(idOf(org.href))} tabIndex={-1}>
        {org.name}
      </Link>
    ),
  },
  {
    key: 'state',
    title: 'State',
    width: '7rem',
    cell: (org) => (
      <span className={org.isEnabled ? page['good'] : page['idle']}>
        {org.isEnabled ? 'Enabled' : 'Disabled'}
      </span>
    ),
  },
  {
    key: 'vms',
    title: 'VMs',
    width: '7rem',
    isNumeric: true,
    cell: (org) => formatCount(org.numberOfVMs),
  },
  {
    key: 'running',
    title: 'Running',
    width: '7rem',
    isNumeric: true,
    cell: (org) => formatCount(org.numberOfRunningVMs),
  },
  {
    key: 'vapps',
    title: 'vApps',
    width: '7rem',
    isNumeric: true,
    cell: (org) => formatCount(org.numberOfVApps),
  },
  {
    key: 'vdcs',
    title: 'Data centres',
    width: '8rem',
    isNumeric: true,
    cell: (org) => formatCount(org.numberOfVdcs),
  },
  {
    key: 'catalogs',
    title: 'Catalogs',
    width: '7rem',
    isNumeric: true,
    cell: (org) => formatCount(org.numberOfCatalogs),
  },
]
