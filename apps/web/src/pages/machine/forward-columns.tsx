import type { LocalForward } from '../../api/machine.ts'
import type { PageTableColumn } from '../../components/table.tsx'

import page from '../../styles/page.module.css'

export const hostPortColumn: PageTableColumn<LocalForward> = {
  key: 'host',
  title: 'Port of this machine',
  isEssential: true,
  cell: ({ hostAddress, hostPort }) => (
    <span className={page['mono']}>
      {hostAddress}:{hostPort}
    </span>
  ),
}

export const guestPortColumn: PageTableColumn<LocalForward> = {
  key: 'guest',
  title: 'Port of the guest',
  cell: ({ guestPort }) => guestPort,
}

export const forwardStateColumn: PageTableColumn<LocalForward> = {
  key: 'state',
  title: 'State',
  cell: ({ listening }) => (listening ? 'Open' : 'The port is in use'),
}
