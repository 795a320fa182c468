import { useEffect, useState } from 'react'

import { useVmActions } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { Card, Facts } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { source } from '../../data/source.ts'
import { findAction } from '../../model/actions.ts'
import { shellQuoted } from '../../model/commands.ts'
import type { MachineVm } from '../../model/machine-vm.ts'
import { en } from '../../text/en.ts'
import { formatMiB } from '../../text/format.ts'

import page from '../../styles/page.module.css'
import style from './page.module.css'

export function OverviewTab({ vm }: { readonly vm: MachineVm }) {
  const id = shellQuoted(vm.id)
  return (
    <div className={page['columns']}>
      <DetailsCard vm={vm} />
      <div className={page['stack']}>
        <ScreenCard vm={vm} />
        <Card title="On a terminal">
          <div className={page['stack']}>
            <CommandLine text={`skerry ssh ${id}`} />
            <CommandLine text={`skerry console ${id}`} />
            <CommandLine text={`skerry info ${id} --json`} />
            <CommandLine text={source().curlLine('GET', `/api/vms?view=full&id=${vm.id}`)} />
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

const REFRESH_MS = 5000

function ScreenCard({ vm }: { readonly vm: MachineVm }) {
  const startAction = useVmActions()
  const action = findAction(vm.actions, 'console')
  return (
    <Card
      title="Screen"
      flush
      tools={
        action && (
          <Button
            small
            icon="console"
            unavailable={action.unavailable}
            onClick={() => startAction(vm, action)}
          >
            Console
          </Button>
        )
      }
    >
      <div className={style['screen']}>
        {vm.power === 'on' || vm.power === 'paused' ? (
          <Picture vm={vm} />
        ) : (
          <p className={style['dark']}>{en.powerMeaning[vm.power]}</p>
        )}
      </div>
    </Card>
  )
}

/** A new address every few seconds, so that the browser loads the picture again. */
function Picture({ vm }: { readonly vm: MachineVm }) {
  const [tick, setTick] = useState(0)
  useEffect(() => {
    const timer = setInterval(
      () => document.visibilityState === 'visible' && setTick((now) => now + 1),
      REFRESH_MS,
    )
    return () => clearInterval(timer)
  }, [])
  return <img src={`${vm.screenshotHref}?at=${tick}`} alt={`Screen of ${vm.name}`} />
}
