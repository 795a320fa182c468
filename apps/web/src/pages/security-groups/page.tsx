import { Link, useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import type { SecurityGroupQueryRecord } from '../../api/query.ts'
import { paths } from '../../app/paths.ts'
import { RecordPage } from '../../app/records/record-page.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import type { GridColumn } from '../../components/grid/grid-column.ts'
import { en } from '../../text/en.ts'
import { formatCount } from '../../text/format.ts'

import page from '../../styles/page.module.css'

/** What VMs accept and send, by their labels. */
export function SecurityGroupsPage() {
  const navigate = useNavigate()
  return (
    <RecordPage
      title="Security groups"
      type="securityGroup"
      placeholder="Filter by name: web*"
      create={{
        text: 'Create security group',
        right: 'network:edit',
        onClick: () => void navigate(paths.newSecurityGroup),
      }}
      columns={columns}
      narrow={narrowGroup}
      pathOf={({ href }) => paths.securityGroup(idOf(href))}
      empty={(filter) => (
        <EmptyState
          title={filter === '' ? 'No security groups yet' : 'No security group matches this filter'}
          commands={<CommandLine text="skerry security-group create web --label role=web" />}
        >
          <p>
            A security group says what VMs with its labels accept and send, on every network. VMs in
            no group accept and send everything, as far as their networks do.
          </p>
        </EmptyState>
      )}
    />
  )
}

const labelsOf = ({ selector }: SecurityGroupQueryRecord): string => selector ?? en.noLabels

const narrowGroup = (group: SecurityGroupQueryRecord) => (
  <div className={page['narrowRow']}>
    <Link className={page['strong']} to={paths.securityGroup(idOf(group.href))}>
      {group.name}
    </Link>
    <small>
      <span className={page['mono']}>{labelsOf(group)}</span>
      <span>{en.vms(group.numberOfVMs)}</span>
    </small>
  </div>
)

const limit = (isLimited: boolean) => (
  <span className={isLimited ? undefined : page['soft']}>{en.groupLimit(isLimited)}</span>
)

const columns: readonly GridColumn<SecurityGroupQueryRecord>[] = [
  {
    key: 'name',
    title: 'Name',
    width: 'minmax(10rem, 1fr)',
    sort: 'name',
    cell: (group) => (
      <Link className={page['strong']} to={paths.securityGroup(idOf(group.href))} tabIndex={-1}>
        {group.name}
      </Link>
    ),
  },
  {
    key: 'labels',
    title: 'Labels',
    width: 'minmax(10rem, 1.4fr)',
    cell: (group) => <span className={page['mono']}>{labelsOf(group)}</span>,
  },
  {
    key: 'in',
    title: 'Accepts',
    width: 'minmax(9rem, .8fr)',
    cell: ({ isInboundLimited }) => limit(isInboundLimited),
  },
  {
    key: 'out',
    title: 'Sends',
    width: 'minmax(9rem, .8fr)',
    cell: ({ isOutboundLimited }) => limit(isOutboundLimited),
  },
  {
    key: 'rules',
    title: 'Rules',
    width: '6rem',
    isNumeric: true,
    cell: ({ numberOfRules }) => formatCount(numberOfRules),
  },
  {
    key: 'vms',
    title: 'VMs',
    width: '6rem',
    isNumeric: true,
    cell: ({ numberOfVMs }) => formatCount(numberOfVMs),
  },
]
