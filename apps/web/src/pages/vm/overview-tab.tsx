import { pathOf } from '../../api/client.ts'
import { Card, Facts } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { curlCommand } from '../../model/commands.ts'
import type { VmDetails } from '../../model/vm.ts'
import { formatDateTime, formatMiB } from '../../text/format.ts'
import { ScreenCard } from './screen-card.tsx'
import { SnapshotCard } from './snapshot-card.tsx'
import { UsageCard } from './usage-card.tsx'

import page from '../../styles/page.module.css'
import style from './page.module.css'

export function OverviewTab({ vm }: { readonly vm: VmDetails }) {
  return (
    <div className={page['columns']}>
      <div className={page['stack']}>
        <UsageCard vm={vm} />
        <DetailsCard vm={vm} />
      </div>
      <div className={page['stack']}>
        <ScreenCard vm={vm} />
        <SnapshotCard vm={vm} />
        <Card title="On a terminal">
          <div className={style['commands']}>
            <CommandLine text={`skerry ssh ${vm.name}`} />
            <CommandLine text={`skerry console ${vm.name}`} />
            <CommandLine text={`skerry usage ${vm.name}`} />
            <CommandLine text={`skerry info ${vm.name} --json`} />
            <CommandLine text={curlCommand('GET', pathOf(vm.href))} />
          </div>
        </Card>
      </div>
    </div>
  )
}

const DetailsCard = ({ vm }: { readonly vm: VmDetails }) => {
  const cards = vm.cards ?? []
  const mac = cards[0]?.macAddress
  const networks = cards.map(({ network }) => network).join(', ')
  const mono = (text: string) => <span className={page['mono']}>{text}</span>
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['IP address', vm.address === undefined ? 'none yet' : mono(vm.address)],
          mac !== undefined && ['MAC address', mono(mac)],
          networks !== '' && ['Networks', networks],
          ['CPUs', vm.cpus],
          ['Memory', formatMiB(vm.memoryMiB)],
          ['Disk', formatMiB(vm.diskMiB)],
          vm.computerName !== undefined && ['Host name', vm.computerName],
          vm.created !== undefined && ['Created', formatDateTime(vm.created)],
          ['ID', mono(vm.id)],
        ]}
      />
    </Card>
  )
}
