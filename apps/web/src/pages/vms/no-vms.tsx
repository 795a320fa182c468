import { useNavigate } from 'react-router'

import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { listCommand } from '../../model/commands.ts'

export function NoVms() {
  const navigate = useNavigate()
  return (
    <EmptyState
      title="No VMs yet"
      commands={
        <>
          <CommandLine text="skerry create my-vm --template debian-13 --ssh-key ~/.ssh/id_ed25519.pub --start" />
          <CommandLine text="skerry ssh my-vm" />
        </>
      }
    >
      <p>A VM is created from a template in a few seconds, here or on a terminal:</p>
      <Button tone="primary" icon="plus" onClick={() => void navigate(paths.newVm)}>
        Create VM
      </Button>
    </EmptyState>
  )
}

interface NoMatchProps {
  readonly filter: string
  readonly onReset: () => void
}

export const NoMatch = ({ filter, onReset }: NoMatchProps) => (
  <EmptyState
    title="No VM matches this filter"
    commands={<CommandLine text={listCommand('vm', filter)} />}
  >
    <p>Examples: web*, vapp:shop, ip:10.0.*, mem&gt;4g, -vapp:old. The same on a terminal:</p>
    <Button onClick={onReset}>Show all</Button>
  </EmptyState>
)
