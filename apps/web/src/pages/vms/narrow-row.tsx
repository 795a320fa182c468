import { Link } from 'react-router'

import { paths } from '../../app/paths.ts'
import { Button } from '../../components/button.tsx'
import { PowerLabel } from '../../components/power-label.tsx'
import type { ListedVm } from '../../model/vm.ts'
import { formatMiB } from '../../text/format.ts'

import page from '../../styles/page.module.css'

interface NarrowVmRowProps {
  readonly row: ListedVm
  readonly onMenu: (anchor: HTMLElement) => void
}

/** A VM in a list on a phone. */
export const NarrowVmRow = ({ row, onMenu }: NarrowVmRowProps) => (
  <div className={page['narrowRow']}>
    <Link className={page['strong']} to={paths.vm(row.id)}>
      {row.name}
    </Link>
    <small>
      <PowerLabel power={row.power} isBusy={row.isBusy} />
      <span>
        {row.address ?? 'no address'} · {row.cpus} CPU · {formatMiB(row.memoryMiB)}
      </span>
    </small>
    <Button
      small
      tone="plain"
      icon="more"
      plainTooltip
      aria-haspopup="menu"
      label={`Actions of ${row.name}`}
      onClick={(event) => onMenu(event.currentTarget)}
    />
  </div>
)
