import { now } from '../../api/clock-and-ids.ts'
import type { HostQueryRecord } from '../../api/query.ts'
import { Icon, type IconName } from '../../components/icon.tsx'
import { hostStateOf, type HostState as State } from '../../model/host.ts'

import page from '../../styles/page.module.css'

const labels: Readonly<Record<State, readonly [text: string, icon: IconName, tone: string]>> = {
  open: ['Open', 'check', 'good'],
  closed: ['Disabled', 'close', 'idle'],
  away: ['Away', 'offline', 'bad'],
}

/** Whether the host takes new VMs: open, closed by an administrator, or out of reach. */
export const HostStateLabel = ({ host }: { readonly host: HostQueryRecord }) => {
  const [text, icon, tone] = labels[hostStateOf(host, now())]
  return (
    <span className={`${page['state']} ${page[tone]}`}>
      <Icon name={icon} size={14} />
      {text}
    </span>
  )
}
