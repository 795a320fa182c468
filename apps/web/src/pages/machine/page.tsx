// This machine: whether it works, what it has, and which of its ports lead to guests.
import { Link } from 'react-router'

import type { MachineState, MachineCheck } from '../../api/machine.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { Icon } from '../../components/icon.tsx'
import { Meter } from '../../components/meter.tsx'
import { Table } from '../../components/table.tsx'
import {
  useAllForwards,
  useLocalHealth,
  useLocalMachine,
  useMachineVms,
} from '../../data/machine/use-machine.ts'
import { healthChecks } from '../../model/machine/machine-checks.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'
import { formatCount, formatMiB, plural } from '../../text/format.ts'
import { forwardStateColumn, guestPortColumn, hostPortColumn } from './forward-columns.tsx'

import page from '../../styles/page.module.css'

export function MachinePage() {
  const machine = useLocalMachine()
  const health = useLocalHealth()
  const { data: vms = [] } = useMachineVms()
  usePageTitle({ text: machine.data?.name ?? 'This machine' })
  if (machine.error)
    return <ErrorState error={machine.error} onRetry={() => void machine.refetch()} />
  if (!machine.data) return <div className={page['page']} aria-busy="true" />
  const check = (): void => {
    void machine.refetch()
    void health.refetch()
  }
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <div className={page['columns']}>
        <div className={page['stack']}>
          <ChecksCard
            checks={[...healthChecks(health.data), ...machine.data.checks]}
            isChecking={health.isFetching || machine.isFetching}
            onCheck={check}
          />
          <ForwardsCard vms={vms} />
        </div>
        <div className={page['stack']}>
          <CapacityCard machine={machine.data} vms={vms} />
          <Card title="On a terminal">
            <div className={page['stack']}>
              <CommandLine text="skerry doctor" />
              <CommandLine text="skerry list" />
              <CommandLine text="skerry event follow" />
            </div>
          </Card>
        </div>
      </div>
    </div>
  )
}

const looks = {
  ok: { icon: 'check', text: 'OK', style: 'good' },
  warn: { icon: 'warning', text: 'Warning', style: 'warn' },
  fail: { icon: 'warning', text: 'Failed', style: 'bad' },
} as const

interface ChecksCardProps {
  readonly checks: readonly MachineCheck[]
  readonly isChecking: boolean
  readonly onCheck: () => void
}

/** What does not work comes first. */
const order = ['fail', 'warn', 'ok'] as const

function ChecksCard({ checks, isChecking, onCheck }: ChecksCardProps) {
  const failed = checks.filter(({ state }) => state === 'fail').length
  return (
    <Card
      title={failed === 0 ? 'Checks' : `Checks: ${failed} failed`}
      flush
      tools={
        <Button
          small
          icon="restart"
          unavailable={isChecking ? 'the checks are running' : undefined}
          onClick={onCheck}
        >
          Check again
        </Button>
      }
    >
      <Table
        label="Checks"
        rows={checks.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state))}
        keyOf={({ check }) => check}
        empty="The checks are running."
        columns={[
          {
            key: 'state',
            title: 'State',
            width: '7rem',
            isEssential: true,
            cell: ({ state }) => (
              <span className={`${page['state']} ${page[looks[state].style]}`}>
                <Icon name={looks[state].icon} size={14} />
                {looks[state].text}
              </span>
            ),
          },
          {
            key: 'check',
            title: 'Check',
            width: '14rem',
            isEssential: true,
            cell: ({ check }) => <span className={page['strong']}>{check}</span>,
          },
          {
            key: 'found',
            title: 'Found',
            isEssential: true,
            cell: ({ found, fix }) => (
              <>
                {found}
                {fix !== undefined && <div className={page['small']}>Next: {fix}</div>}
              </>
            ),
          },
        ]}
      />
    </Card>
  )
}

interface CapacityCardProps {
  readonly machine: MachineState
  readonly vms: readonly MachineVm[]
}

function CapacityCard({ machine, vms }: CapacityCardProps) {
  const running = vms.filter(({ power }) => power === 'on' || power === 'paused')
  const given = running.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0)
  return (
    <Card title="Capacity">
      <Facts
        rows={[
          ['VMs', `${plural(vms.length, 'VM')}, ${running.length} running`],
          ['CPUs', formatCount(machine.cpus)],
          [
            'Memory in use',
            <Amount
              key="memory"
              label="Memory in use"
              free={machine.freeMemoryMiB}
              total={machine.memoryMiB}
            />,
          ],
          ['Memory of running VMs', formatMiB(given)],
          [
            'Storage in use',
            <Amount
              key="storage"
              label="Storage in use"
              free={machine.freeStorageMiB}
              total={machine.storageMiB}
            />,
          ],
          [
            'Directory',
            <span key="directory" className={page['mono']}>
              {machine.dataDirectory}
            </span>,
          ],
          ['Version', machine.version],
        ]}
      />
    </Card>
  )
}

const Amount = ({
  label,
  free,
  total,
}: {
  readonly label: string
  readonly free: number
  readonly total: number
}) => (
  <>
    <Meter share={total === 0 ? 0 : (total - free) / total} label={label} />
    <span className={page['small']}>
      {formatMiB(free)} free of {formatMiB(total)}
    </span>
  </>
)

function ForwardsCard({ vms }: { readonly vms: readonly MachineVm[] }) {
  const { data = [] } = useAllForwards(vms.map(({ id }) => id))
  return (
    <Card title="Port forwards" flush>
      <Table
        label="Port forwards"
        rows={data}
        keyOf={({ hostAddress, hostPort }) => `${hostAddress} ${hostPort}`}
        empty="No ports of this machine lead to guests. Add one on the page of a VM."
        columns={[
          hostPortColumn,
          {
            key: 'vm',
            title: 'VM',
            isEssential: true,
            cell: ({ vm }) => (
              <Link className={page['strong']} to={`${paths.vm(vm)}?tab=forwards`}>
                {vm}
              </Link>
            ),
          },
          guestPortColumn,
          forwardStateColumn,
        ]}
      />
    </Card>
  )
}
