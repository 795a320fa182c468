import { useState } from 'react'
import { Link, useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { AdminOrgDocument } from '../../api/documents.ts'
import type { OrgRecord } from '../../api/query.ts'
import { paths } from '../../app/paths.ts'
import { RecordPage } from '../../app/records/record-page.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { TextField } from '../../components/field.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { useChange } from '../../data/use-change.ts'
import { shellQuoted } from '../../model/commands.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

export function OrgsPage() {
  const [isAdding, setAdding] = useState(false)
  return (
    <>
      <RecordPage
        title="Organisations"
        type="organization"
        placeholder="Filter by name"
        create={{
          text: 'Create organisation',
          right: 'cloud:admin',
          onClick: () => setAdding(true),
        }}
        columns={columns}
        narrow={narrowOrg}
        pathOf={({ href }) => paths.adminOrg(idOf(href))}
        empty={() => (
          <EmptyState title="No organisation matches">
            <p>An organisation is a tenant with users, quota and data centres.</p>
          </EmptyState>
        )}
      />
      {isAdding && <AddOrgDialog onClose={() => setAdding(false)} />}
    </>
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
