import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { Icon, type IconName } from '../../components/icon.tsx'
import { Table } from '../../components/table.tsx'
import { bulkRun } from '../../data/machine/bulk-run.ts'
import { useStore } from '../../data/store.ts'
import { failedIn, hasBulkEnded, type BulkOutcome } from '../../model/machine/bulk-outcomes.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

const states: Readonly<Record<BulkOutcome['state'], readonly [icon: IconName, tone: string]>> = {
  waiting: ['schedule', 'idle'],
  running: ['restart', 'warn'],
  done: ['check', 'good'],
  failed: ['warning', 'bad'],
}

/** The outcome for each VM of the last action on several. It may be closed before the end; a message then reports how it ended. */
export function OutcomeDialog() {
  const run = useStore(bulkRun)
  if (!run) return null
  const close = (): void => bulkRun.set(undefined)
  const failed = failedIn(run).length
  return (
    <Dialog
      title={`${en.action[run.action]}: ${en.vms(run.rows.length)}`}
      onClose={close}
      footer={<Button onClick={close}>Close</Button>}
    >
      <p role="status">
        {hasBulkEnded(run)
          ? failed === 0
            ? 'Done for all of them.'
            : `Done for ${run.rows.length - failed}, failed for ${failed}.`
          : 'Closing this does not stop it.'}
      </p>
      <Table
        label="Outcomes"
        rows={run.rows}
        keyOf={({ id }) => id}
        empty=""
        columns={[
          { key: 'vm', title: 'VM', isEssential: true, cell: ({ name }) => name },
          {
            key: 'outcome',
            title: 'Outcome',
            isEssential: true,
            cell: ({ state, reason }) => {
              const [icon, tone] = states[state]
              return (
                <>
                  <span className={`${page['state']} ${page[tone]}`}>
                    <Icon name={icon} size={14} />
                    {en.bulkOutcome[state]}
                  </span>
                  {reason !== undefined && <p className={page['small']}>{reason}</p>}
                </>
              )
            },
          },
        ]}
      />
    </Dialog>
  )
}
