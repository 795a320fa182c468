import { Icon, type IconName } from '../../components/icon.tsx'
import type { NetworkKind } from '../../model/networks/network.ts'
import { en } from '../../text/en.ts'

import page from '../../styles/page.module.css'

const icons: Readonly<Record<NetworkKind, IconName>> = {
  isolated: 'lock',
  routed: 'route',
  direct: 'out',
}

/** What a network reaches, by shape and word. */
export const NetworkKindLabel = ({ kind }: { readonly kind: NetworkKind }) => (
  <span className={page['state']} title={en.networkMeaning[kind]}>
    <Icon name={icons[kind]} size={14} />
    {en.networkKind[kind]}
  </span>
)
