import { useState } from 'react'

import { localPath, type LocalSnapshot } from '../../api/machine.ts'
import { useVmActions } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { ConfirmDialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Table } from '../../components/table.tsx'
import { startTask } from '../../data/machine/own-operations.ts'
import { useSnapshots } from '../../data/machine/use-machine.ts'
import { notify, notifyError } from '../../data/notifications.ts'
import { source } from '../../data/source.ts'
import { findAction } from '../../model/actions.ts'
import { shellQuoted } from '../../model/commands.ts'
import type { MachineVm } from '../../model/machine/machine-vm.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

interface Chosen {
  readonly snapshot: LocalSnapshot
  readonly what: 'revertSnapshot' | 'removeSnapshot'
}

export function SnapshotsTab({ vm }: { readonly vm: MachineVm }) {
  const { data: snapshots = [], error, refetch } = useSnapshots(vm.id)
  const [chosen, setChosen] = useState<Chosen>()
  const startAction = useVmActions()
  const create = findAction(vm.actions, 'createSnapshot')
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  return (
    <>
      <Card
        title="Snapshots"
        flush
        tools={
          create && (
            <Button
              small
              icon="snapshot"
              unavailable={create.unavailable}
              onClick={() => startAction(vm, create)}
            >
              {en.action.createSnapshot}
            </Button>
          )
        }
      >
        <SnapshotTable
          snapshots={snapshots}
          // The rules for taking and for reverting are the same.
          whyNotRevert={create?.unavailable}
          onChoose={setChosen}
        />
      </Card>
      {chosen && <AskFirst vm={vm} chosen={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}

interface SnapshotTableProps {
  readonly snapshots: readonly LocalSnapshot[]
  readonly whyNotRevert: string | undefined
  readonly onChoose: (chosen: Chosen) => void
}

const SnapshotTable = ({ snapshots, whyNotRevert, onChoose }: SnapshotTableProps) => (
  <Table
    label="Snapshots"
    rows={snapshots.toReversed()}
    keyOf={({ name }) => name}
    empty="None. A snapshot keeps the disk, and the memory of a running VM, to return to."
    columns={[
      {
        key: 'name',
        title: 'Name',
        isEssential: true,
        cell: ({ name, current }) => (
          <>
            <span className={page['strong']}>{name}</span>
            {current && <span className={page['small']}> current</span>}
          </>
        ),
      },
      {
        key: 'created',
        title: 'Taken',
        cell: ({ createdAt }) => <RelativeTime time={createdAt} />,
      },
      {
        key: 'memory',
        title: 'Contents',
        cell: ({ memory }) => (memory ? 'disk and memory' : 'disk'),
      },
      {
        key: 'tools',
        title: 'Actions',
        isTitleHidden: true,
        isNumeric: true,
        isEssential: true,
        cell: (snapshot) => (
          <>
            <Button
              small
              icon="revert"
              unavailable={whyNotRevert}
              onClick={() => onChoose({ snapshot, what: 'revertSnapshot' })}
            >
              Revert
            </Button>
            <Button
              small
              tone="plain"
              icon="trash"
              label={`Delete snapshot ${snapshot.name}`}
              onClick={() => onChoose({ snapshot, what: 'removeSnapshot' })}
            />
          </>
        ),
      },
    ]}
  />
)

interface AskFirstProps {
  readonly vm: MachineVm
  readonly chosen: Chosen
  readonly onClose: () => void
}

function AskFirst({ vm, chosen: { snapshot, what }, onClose }: AskFirstProps) {
  const isRevert = what === 'revertSnapshot'
  const own = localPath('vms', vm.id, 'snapshots', snapshot.name)
  const href = isRevert ? `${own}/revert` : own
  const method = isRevert ? 'POST' : 'DELETE'
  const confirm = async (): Promise<void> => {
    onClose()
    try {
      await startTask(href, { method })
      notify({ tone: 'progress', title: `${en.operation(what, false)} ${vm.name}` })
    } catch (error) {
      notifyError(`${en.action[what]} ${vm.name}: not done`, error)
    }
  }
  const [id, name] = [shellQuoted(vm.id), shellQuoted(snapshot.name)]
  return (
    <ConfirmDialog
      title={`${en.action[what]}: ${snapshot.name}`}
      action={en.action[what]}
      icon={isRevert ? 'revert' : 'trash'}
      onClose={onClose}
      onConfirm={() => void confirm()}
    >
      <p>{en.warning[what]}</p>
      <CommandChoice
        skerry={
          isRevert ? `skerry snapshot revert ${id} ${name}` : `skerry snapshot rm ${id} ${name}`
        }
        curl={source().curlLine(method, href)}
      />
    </ConfirmDialog>
  )
}
