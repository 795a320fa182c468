import { useState } from 'react'
import { useNavigate } from 'react-router'

import { idOf } from '../../api/client.ts'
import { linkOf, type VAppDocument, type VdcDocument } from '../../api/documents.ts'
import { paths } from '../../app/paths.ts'
import { actionIcons, actionMenu, useVmActions } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Menu } from '../../components/menu.tsx'
import { PowerLabel } from '../../components/power-label.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useChange } from '../../data/use-change.ts'
import { useDocument } from '../../data/use-documents.ts'
import { actionsOf, findAction } from '../../model/actions.ts'
import { powerOfNumber } from '../../model/power.ts'
import { en } from '../../text/en.ts'

import vm from '../vm/page.module.css'

interface VappHeaderProps {
  readonly id: string
  readonly vapp: VAppDocument
}

export function VappHeader({ id, vapp }: VappHeaderProps) {
  const startAction = useVmActions()
  const actions = actionsOf(vapp)
  const target = { id, name: vapp.name }
  const [isCloning, setCloning] = useState(false)
  const { data: vdc } = useDocument<VdcDocument>(linkOf(vapp, 'up'))
  const cloneHref = linkOf(vdc, 'add', 'cloneVAppParams')
  const buttons = (['start', 'shutdown'] as const)
    .map((name) => findAction(actions, name))
    .filter((action) => action !== undefined)
  const vms = vapp.children?.vm?.length ?? 0
  return (
    <div className={vm['header']}>
      <div className={vm['line']}>
        <PowerLabel
          power={powerOfNumber(vapp.status)}
          isBusy={(vapp.tasks?.task?.length ?? 0) > 0}
        />
        <span>{en.vms(vms)}</span>
        {vapp.owner?.user && <span>owned by {vapp.owner.user.name}</span>}
        {vapp.dateCreated !== undefined && (
          <span>
            created <RelativeTime time={vapp.dateCreated} />
          </span>
        )}
      </div>
      <div className={vm['tools']}>
        {buttons.map((action) => (
          <Button
            key={action.name}
            icon={actionIcons[action.name]}
            unavailable={action.unavailable}
            onClick={() => startAction(target, action)}
          >
            {en.action[action.name]}
          </Button>
        ))}
        <Button
          icon="copy"
          unavailable={cloneHref === undefined ? 'your role may not copy vApps' : undefined}
          onClick={() => setCloning(true)}
        >
          Clone
        </Button>
        <Menu
          trigger={<Button icon="more">Actions</Button>}
          groups={actionMenu(target, actions, startAction)}
        />
      </div>
      {isCloning && cloneHref !== undefined && (
        <CloneDialog vapp={vapp} href={cloneHref} onClose={() => setCloning(false)} />
      )}
    </div>
  )
}

interface CloneDialogProps {
  readonly vapp: VAppDocument
  readonly href: string
  readonly onClose: () => void
}

function CloneDialog({ vapp, href, onClose }: CloneDialogProps) {
  const [name, setName] = useState(`${vapp.name}-copy`)
  const navigate = useNavigate()
  const { makeChange, isPending } = useChange<VAppDocument>()
  const submit = (): void =>
    makeChange({
      href,
      method: 'POST',
      body: { name, source: { href: vapp.href } },
      success: `Cloning ${vapp.name}`,
      failure: `${vapp.name} was not cloned`,
      onDone: (copy) => {
        onClose()
        void navigate(paths.vapp(idOf(copy.href)))
      },
    })
  return (
    <FormDialog
      title={`Clone ${vapp.name}`}
      onClose={onClose}
      onSubmit={submit}
      action="Clone"
      icon="copy"
      unavailable={
        isPending ? 'the copy is being created' : name === '' ? 'the copy needs a name' : undefined
      }
    >
      <p>All VMs of the vApp are copied. They must be powered off.</p>
      <TextField
        label="Name of the copy"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}
