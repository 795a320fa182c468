import type { ReactNode } from 'react'
import { Link, useParams } from 'react-router'

import { idOf, pathOf } from '../../api/client.ts'
import type { EdgeGatewayDocument } from '../../api/edge-documents.ts'
import { ConflictDialog } from '../../app/networks/conflict-dialog.tsx'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { Card } from '../../components/card.tsx'
import { CommandLine } from '../../components/command-line.tsx'
import { ErrorState } from '../../components/empty-state.tsx'
import { Tabs } from '../../components/tabs.tsx'
import { configureHref, useServicesChange } from '../../data/networks/use-services-change.ts'
import { useSession } from '../../data/session.ts'
import { useDocument } from '../../data/use-documents.ts'
import { curlCommand } from '../../model/commands.ts'
import {
  firewallRulesOf,
  innerInterfacesOf,
  natRulesOf,
  ownAddressOf,
  routesOf,
  servicesOf,
  uplinkOf,
} from '../../model/networks/edge-gateway.ts'
import { gatewayCommands } from '../../model/networks/network-commands.ts'
import { choiceParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'
import { AddressesTab } from './addresses-tab.tsx'
import { FirewallTab } from './firewall-tab.tsx'
import type { GatewayTabProps } from './gateway-tab.ts'
import { NatTab } from './nat-tab.tsx'
import { RoutesTab } from './routes-tab.tsx'

import page from '../../styles/page.module.css'

const schema = { tab: choiceParam(['nat', 'firewall', 'addresses', 'routes'], 'nat') }
type Tab = (typeof schema.tab)['default']

export function EdgeGatewayPage() {
  const id = useParams()['gateway'] ?? ''
  const { data, error, refetch } = useDocument<EdgeGatewayDocument>(`/api/admin/edgeGateway/${id}`)
  usePageTitle({ text: 'Edge gateways', to: paths.edgeGateways }, { text: data?.name ?? '…' })
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <div className={page['page']} aria-busy="true" />
  return <Gateway gateway={data} />
}

function Gateway({ gateway }: { readonly gateway: EdgeGatewayDocument }) {
  const [{ tab }, change] = useSearch(schema)
  const { role } = useSession()
  const { send, isPending, conflict, leave } = useServicesChange()
  const services = servicesOf(gateway)
  const unavailable =
    configureHref(gateway) === undefined
      ? en.missingRight(role, 'network:edit')
      : isPending
        ? 'a change is being sent'
        : undefined
  const props: GatewayTabProps = {
    gateway,
    unavailable,
    onChange: (wanted) => send(gateway, wanted),
  }
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      <Header gateway={gateway} />
      <Tabs
        label={`Parts of ${gateway.name}`}
        value={tab}
        onChange={(next: Tab) => change({ tab: next })}
        tabs={[
          { value: 'nat', text: 'Published ports', count: natRulesOf(services).length },
          { value: 'firewall', text: 'Firewall', count: firewallRulesOf(services).length },
          { value: 'addresses', text: 'External addresses' },
          { value: 'routes', text: 'Static routes', count: routesOf(services).length },
        ]}
      >
        <div className={page['stack']}>
          {contents[tab](props)}
          <Card title="On a terminal">
            <div className={page['stack']}>
              {gatewayCommands[tab](gateway.name).map((line) => (
                <CommandLine key={line} text={line} />
              ))}
              <CommandLine text={curlCommand('GET', pathOf(gateway.href))} />
            </div>
          </Card>
        </div>
      </Tabs>
      {conflict && <ConflictDialog conflict={conflict} onSend={send} onClose={leave} />}
    </div>
  )
}

const contents: Readonly<Record<Tab, (props: GatewayTabProps) => ReactNode>> = {
  nat: (props) => <NatTab {...props} />,
  firewall: (props) => <FirewallTab {...props} />,
  addresses: (props) => <AddressesTab {...props} />,
  routes: (props) => <RoutesTab {...props} />,
}

const Header = ({ gateway }: { readonly gateway: EdgeGatewayDocument }) => (
  <div className={page['tools']}>
    <span className={gateway.status === 0 ? page['warn'] : page['good']} role="status">
      {en.networkState(gateway.status === 0)}
    </span>
    <span className={page['mono']}>{ownAddressOf(gateway)}</span>
    <span>on {uplinkOf(gateway)?.name}</span>
    <span className={page['soft']}>
      for{' '}
      {innerInterfacesOf(gateway).map(({ network, name }, at) => (
        <span key={network.href ?? name}>
          {at > 0 && ', '}
          <Link className={page['link']} to={paths.network(idOf(network.href ?? ''))}>
            {name}
          </Link>
        </span>
      ))}
    </span>
  </div>
)
