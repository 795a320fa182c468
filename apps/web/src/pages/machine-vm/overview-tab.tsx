import { localVmPath } from '../../api/machine.ts'
import { Card, Facts } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { source } from '../../data/source.ts'
import { shellQuoted } from '../../model/commands.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'
import { formatMiB } from '../../text/format.ts'
import { ScreenCard } from '../vm/screen-card.tsx'
import { UsageCard } from '../vm/usage-card.tsx'

import page from '../../styles/page.module.css'

export function OverviewTab({ vm }: { readonly vm: MachineVm }) {
  const id = shellQuoted(vm.id)
  return (
    <div className={page['columns']}>
      <div className={page['stack']}>
        {/* The reasons of the card for a state that is not known are those of a cloud. */}
        {vm.power !== 'unknown' && <UsageCard vm={vm} />}
        <DetailsCard vm={vm} />
      </div>
      <div className={page['stack']}>
        <ScreenCard vm={vm} />
        <Card title="On a terminal">
          <div className={page['stack']}>
            <CommandLine text={`skerry ssh ${id}`} />
            <CommandLine text={`skerry console ${id}`} />
            <CommandLine text={`skerry usage ${id}`} />
            <CommandLine text={`skerry info ${id} --json`} />
            <CommandLine text={source().curlLine('GET', localVmPath(vm.id))} />
          </div>
        </Card>
      </div>
    </div>
  )
}

function DetailsCard({ vm }: { readonly vm: MachineVm }) {
  const mono = (text: string) => <span className={page['mono']}>{text}</span>
  return (
    <Card title="Details">
      <Facts
        rows={[
          ['IP address', vm.address === undefined ? 'none yet' : mono(vm.address)],
          ['Network', vm.bridge === undefined ? 'NAT' : `bridge ${vm.bridge}`],
          ['CPUs', vm.cpus],
          ['Memory', formatMiB(vm.memoryMiB)],
          ['Disk', formatMiB(vm.diskMiB)],
          ['Start with the machine', vm.autostart ? 'yes' : 'no'],
          ['Shared folders', vm.sharing ? 'on' : 'off'],
          vm.tag !== '' && ['Tag', vm.tag],
          ['ID', mono(vm.id)],
        ]}
      />
    </Card>
  )
}
