import { pathOf } from '../../api/client.ts'
import { useVmActions } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { findAction } from '../../model/actions.ts'
import { commandOf, curlCommand } from '../../model/commands.ts'
import type { VmDetails } from '../../model/vm.ts'
import { formatBytes } from '../../text/format.ts'

import page from '../../styles/page.module.css'
import style from './page.module.css'

export function SnapshotCard({ vm }: { readonly vm: VmDetails }) {
  const startAction = useVmActions()
  const { snapshot } = vm
  const create = findAction(vm.actions, 'createSnapshot')
  const revert = findAction(vm.actions, 'revertSnapshot')
  const remove = findAction(vm.actions, 'removeSnapshot')
  return (
    <Card
      title="Snapshot"
      tools={
        create && (
          <Button
            small
            icon="snapshot"
            unavailable={create.unavailable}
            onClick={() => startAction(vm, create)}
          >
            {snapshot ? 'Replace' : 'Take snapshot'}
          </Button>
        )
      }
    >
      {snapshot ? (
        <div className={style['snapshot']}>
          <div>
            {snapshot.name}
            <small>
              <RelativeTime time={snapshot.created} />
              {snapshot.hasMemory && ', with memory'}
              {snapshot.bytes !== undefined && `, up to ${formatBytes(snapshot.bytes)}`}
            </small>
          </div>
          {revert && (
            <Button
              small
              icon="revert"
              unavailable={revert.unavailable}
              onClick={() => startAction(vm, revert)}
            >
              Revert
            </Button>
          )}
          {remove && (
            <Button
              small
              tone="plain"
              icon="trash"
              label="Delete snapshot"
              unavailable={remove.unavailable}
              onClick={() => startAction(vm, remove)}
            />
          )}
        </div>
      ) : (
        <div className={style['commands']}>
          <p className={page['soft']}>
            None. A snapshot keeps the disk, and the memory of a running VM, to return to.
          </p>
          <CommandChoice
            skerry={commandOf('createSnapshot', vm.name)}
            curl={create && curlCommand('POST', pathOf(`${vm.href}/action/createSnapshot`))}
          />
        </div>
      )}
    </Card>
  )
}
