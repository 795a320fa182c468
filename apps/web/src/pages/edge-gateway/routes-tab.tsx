import { isAddress } from '@skerry/vm/ipv4'
import { useState } from 'react'

import type { StaticRouteDocument } from '../../api/edge-documents.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CommandChoice } from '../../components/command-line.tsx'
import { FormDialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/field.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'
import { servicesCurl } from '../../data/networks/use-services-change.ts'
import { addRoute, removeRoute, routesOf, servicesOf } from '../../model/networks/edge-gateway.ts'
import { routeCommand } from '../../model/networks/network-commands.ts'
import { isRange } from '../../model/networks/network.ts'
import type { GatewayTabProps, RuleDialogProps } from './gateway-tab.ts'

import page from '../../styles/page.module.css'

/** Networks that are reached by another router than that of the external network. */
export function RoutesTab({ gateway, unavailable, onChange }: GatewayTabProps) {
  const [isAdding, setAdding] = useState(false)
  const tools: PageTableColumn<StaticRouteDocument> = {
    key: 'tools',
    title: 'Actions',
    isTitleHidden: true,
    isNumeric: true,
    isEssential: true,
    cell: ({ network }) => (
      <Button
        small
        tone="plain"
        icon="trash"
        label={`Remove the route to ${network}`}
        unavailable={unavailable}
        onClick={() =>
          onChange({ change: removeRoute(network), what: `Removing the route to ${network}` })
        }
      >
        Remove
      </Button>
    ),
  }
  return (
    <Card
      title="Static routes"
      flush
      tools={
        <Button small icon="plus" unavailable={unavailable} onClick={() => setAdding(true)}>
          Add route
        </Button>
      }
    >
      <Table
        label="Static routes"
        rows={routesOf(servicesOf(gateway))}
        keyOf={({ network }) => network}
        empty="All packets for other networks go to the router of the external network."
        columns={[...columns, tools]}
      />
      {isAdding && (
        <RouteDialog
          gateway={gateway}
          unavailable={unavailable}
          onChange={onChange}
          onClose={() => setAdding(false)}
        />
      )}
    </Card>
  )
}

const columns: readonly PageTableColumn<StaticRouteDocument>[] = [
  {
    key: 'network',
    title: 'Network',
    isEssential: true,
    cell: ({ network }) => <span className={page['mono']}>{network}</span>,
  },
  {
    key: 'hop',
    title: 'Router',
    isEssential: true,
    cell: ({ nextHopIp }) => <span className={page['mono']}>{nextHopIp}</span>,
  },
  {
    key: 'name',
    title: 'Name',
    cell: ({ name }) => <span className={page['soft']}>{name}</span>,
  },
]

function RouteDialog({ gateway, unavailable, onChange, onClose }: RuleDialogProps) {
  const [network, setNetwork] = useState('')
  const [nextHopIp, setNextHopIp] = useState('')
  const [name, setName] = useState('')
  const reason = isRange(network)
    ? isAddress(nextHopIp)
      ? undefined
      : 'the router must be an address'
    : 'the network must be written like 192.168.0.0/16'
  const route = { network, nextHopIp, ...(name !== '' && { name }) }
  const submit = (): void =>
    onChange({
      change: addRoute(route),
      what: `Adding the route to ${network}`,
      onDone: onClose,
    })
  return (
    <FormDialog
      title="Add route"
      onClose={onClose}
      onSubmit={submit}
      action="Add route"
      unavailable={unavailable ?? reason}
    >
      <TextField
        label="Network"
        placeholder="192.168.0.0/16"
        value={network}
        onChange={(event) => setNetwork(event.target.value.trim())}
      />
      <TextField
        label="Router"
        placeholder="203.0.113.9"
        hint="An address of the external network, or of a network behind the gateway."
        value={nextHopIp}
        onChange={(event) => setNextHopIp(event.target.value.trim())}
      />
      <TextField label="Name" value={name} onChange={(event) => setName(event.target.value)} />
      {reason === undefined && (
        <CommandChoice
          skerry={routeCommand(route, gateway.name)}
          curl={servicesCurl(gateway, addRoute(route))}
        />
      )}
    </FormDialog>
  )
}
