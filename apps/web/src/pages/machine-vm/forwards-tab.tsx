import { useState, type FormEvent } from 'react'

import { localPath, type LocalForward } from '../../api/machine.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { TextField } from '../../components/field.tsx'
import { Table } from '../../components/table.tsx'
import { useForwards } from '../../data/machine/use-machine.ts'
import { source } from '../../data/source.ts'
import { useChange } from '../../data/use-change.ts'
import { shellQuoted } from '../../model/commands.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'
import { forwardStateColumn, guestPortColumn, hostPortColumn } from '../machine/forward-columns.tsx'

import page from '../../styles/page.module.css'

const PORT_MAX = 65_535
const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= PORT_MAX

export function ForwardsTab({ vm }: { readonly vm: MachineVm }) {
  const { data: forwards = [], error, refetch } = useForwards(vm.id)
  const { makeChange } = useChange()
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  const remove = ({ hostPort }: LocalForward): void =>
    makeChange({
      href: localPath('vms', vm.id, 'forwards', String(hostPort)),
      method: 'DELETE',
      success: `Port ${hostPort} no longer leads to ${vm.name}`,
      failure: `The forward of port ${hostPort} was not removed`,
    })
  return (
    <div className={page['stack']}>
      <Card title="Port forwards" flush>
        <Table
          label="Port forwards"
          rows={forwards}
          keyOf={({ hostAddress, hostPort }) => `${hostAddress} ${hostPort}`}
          empty="None. A forward makes a port of the guest reachable on this machine, and only here."
          columns={[
            hostPortColumn,
            { ...guestPortColumn, isEssential: true },
            forwardStateColumn,
            {
              key: 'tools',
              title: 'Actions',
              isTitleHidden: true,
              isNumeric: true,
              isEssential: true,
              cell: (forward) => (
                <Button
                  small
                  tone="plain"
                  icon="trash"
                  label={`Remove the forward of port ${forward.hostPort}`}
                  onClick={() => remove(forward)}
                />
              ),
            },
          ]}
        />
      </Card>
      <AddForward vm={vm} />
    </div>
  )
}

function AddForward({ vm }: { readonly vm: MachineVm }) {
  const [host, setHost] = useState('')
  const [guest, setGuest] = useState('')
  const { makeChange, isPending } = useChange()
  const href = localPath('vms', vm.id, 'forwards')
  const body = { hostPort: Number(host), guestPort: Number(guest) }
  const isComplete = isPort(body.hostPort) && isPort(body.guestPort)
  const reason = isComplete ? undefined : `both ports must be numbers from 1 to ${PORT_MAX}`
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    makeChange({
      href,
      method: 'POST',
      body,
      success: `Port ${host} leads to ${vm.name}`,
      failure: `Port ${host} was not forwarded`,
      onDone: () => {
        setHost('')
        setGuest('')
      },
    })
  }
  const ports = isComplete ? `${body.hostPort}:${body.guestPort}` : '8022:22'
  return (
    <Card title="Add a port forward">
      <form className={page['fields']} onSubmit={submit}>
        <div className={page['pair']}>
          <TextField
            label="Port of this machine"
            type="number"
            min={1}
            max={PORT_MAX}
            value={host}
            onChange={(event) => setHost(event.target.value)}
          />
          <TextField
            label="Port of the guest"
            type="number"
            min={1}
            max={PORT_MAX}
            value={guest}
            onChange={(event) => setGuest(event.target.value)}
          />
        </div>
        <CommandChoice
          skerry={`skerry forward add ${shellQuoted(vm.id)} ${ports}`}
          curl={source().curlLine(
            'POST',
            href,
            isComplete ? body : { hostPort: 8022, guestPort: 22 },
          )}
        />
        <div>
          <Button
            type="submit"
            icon="plus"
            unavailable={isPending ? 'the forward is being added' : reason}
          >
            Add forward
          </Button>
        </div>
      </form>
    </Card>
  )
}
