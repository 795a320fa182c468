import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { useSerialLog } from '../../data/machine/use-machine.ts'
import { shellQuoted } from '../../model/commands.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'

import page from '../../styles/page.module.css'
import style from './page.module.css'

/** What the guest wrote to its serial port: the kernel's messages, mostly. */
export function LogTab({ vm }: { readonly vm: MachineVm }) {
  const { data, error, refetch } = useSerialLog(vm.id)
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <div className={page['stack']}>
      <Card title="Serial port of the guest" flush>
        <pre className={style['log']} role="log" aria-label="Serial port of the guest" tabIndex={0}>
          {data === '' ? 'The guest has written nothing yet.' : data}
        </pre>
      </Card>
      <Card title="On a terminal">
        <CommandLine text={`skerry logs ${shellQuoted(vm.id)}`} />
      </Card>
    </div>
  )
}
