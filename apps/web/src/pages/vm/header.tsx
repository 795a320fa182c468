import { Link } from 'react-router'

import { idOf } from '../../api/client.ts'
import { paths } from '../../app/paths.ts'
import { actionIcons, actionMenu, useVmActions } from '../../app/vm-actions.tsx'
import { Button } from '../../components/button.tsx'
import { Menu } from '../../components/menu.tsx'
import { PowerLabel } from '../../components/power-label.tsx'
import { findAction, isAvailable, type ActionName } from '../../model/actions.ts'
import type { VmDetails } from '../../model/vm.ts'
import { en } from '../../text/en.ts'
import { formatMiB } from '../../text/format.ts'

import page from '../../styles/page.module.css'
import style from './page.module.css'

interface VmHeaderProps {
  readonly vm: VmDetails
  /** What a running task does. */
  readonly doing: string | undefined
}

/** The state in one line, the likely actions as buttons, and all actions in a menu. */
export function VmHeader({ vm, doing }: VmHeaderProps) {
  const startAction = useVmActions()
  const likely: readonly ActionName[] =
    vm.power === 'on' ? ['console', 'shutdown', 'reboot'] : ['start', 'createSnapshot']
  const buttons = likely
    .map((name) => findAction(vm.actions, name))
    .filter((action) => action !== undefined)
  return (
    <div className={style['header']}>
      <div className={style['line']}>
        <span title={en.powerMeaning[vm.power]}>
          <PowerLabel power={vm.power} isBusy={vm.isBusy} doing={doing} />
        </span>
        {vm.address !== undefined && <span className={page['mono']}>{vm.address}</span>}
        <span>
          {vm.cpus} CPU · {formatMiB(vm.memoryMiB)} · {formatMiB(vm.diskMiB)}
        </span>
        {vm.vappHref !== undefined && (
          <span>
            in{' '}
            <Link className={page['link']} to={paths.vapp(idOf(vm.vappHref))}>
              {vm.vapp ?? 'its vApp'}
            </Link>
          </span>
        )}
      </div>
      <div className={style['tools']}>
        {buttons.map((action, index) => (
          <Button
            key={action.name}
            {...(index === 0 && isAvailable(action) && { tone: 'primary' as const })}
            icon={actionIcons[action.name]}
            unavailable={action.unavailable}
            onClick={() => startAction(vm, action)}
          >
            {en.action[action.name]}
          </Button>
        ))}
        <Menu
          trigger={<Button icon="more">Actions</Button>}
          groups={actionMenu(vm, vm.actions, startAction)}
        />
      </div>
    </div>
  )
}
