import { useQueries } from '@tanstack/react-query'
import { Link } from 'react-router'

import { idOf, pathOf, request } from '../../api/client.ts'
import type { EdgeGatewayDocument } from '../../api/edge-documents.ts'
import type { AllocatedAddressesDocument } from '../../api/network-documents.ts'
import type { NetworkRecord } from '../../api/query.ts'
import { usePageTitle } from '../../app/page-title.ts'
import { paths } from '../../app/paths.ts'
import { useSearch } from '../../app/use-search.ts'
import { Card } from '../../components/card.tsx'
import { EmptyState, ErrorState } from '../../components/empty-state.tsx'
import { Chips, FilterBar } from '../../components/filter-bar.tsx'
import { Table, type PageTableColumn } from '../../components/table.tsx'
import { againIfOld, failureOf } from '../../data/use-read.ts'
import { useRecords } from '../../data/use-record-list.ts'
import { kindOfLink, rangeText } from '../../model/networks/network.ts'
import {
  reachGatewayOf,
  reachRows,
  type ReachFacts,
  type ReachRow,
} from '../../model/networks/reach.ts'
import { textParam } from '../../model/search-params.ts'
import { en } from '../../text/en.ts'
import { ReachDrawing } from './drawing.tsx'
import { PassageLabel } from './passage.tsx'

import page from '../../styles/page.module.css'

const schema = { vdc: textParam() }
/** More are counted. */
const NAMED_VMS = 5

/** The names of the VMs of networks that have few. */
function useVmNames(networks: readonly NetworkRecord[]): ReadonlyMap<string, readonly string[]> {
  const few = networks.filter(({ usedIpCount: n }) => n > 0 && n <= NAMED_VMS)
  const answers = useQueries({
    queries: few.map(({ href }) => ({
      queryKey: ['document', pathOf(`${href}/allocatedAddresses`)],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        request<AllocatedAddressesDocument>(`${href}/allocatedAddresses`, { signal }),
      refetchInterval: againIfOld,
    })),
  })
  return new Map(
    few.map(({ href }, at) => [
      href,
      (answers[at]?.data?.ipAddress ?? []).flatMap(({ link = [] }) =>
        link.flatMap(({ rel, name }) => (rel === 'down' && name !== undefined ? [name] : [])),
      ),
    ]),
  )
}

/** The edge gateways of a data centre with their rules; undefined: not all are read. */
function useGateways(vdc: string) {
  const list = useRecords('edgeGateway', { sort: 'name' })
  const records = (list.data?.records ?? []).filter(({ vdcName }) => vdcName === vdc)
  const read = useQueries({
    queries: records.map(({ href }) => ({
      queryKey: ['document', pathOf(href)],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        request<EdgeGatewayDocument>(href, { signal }),
      refetchInterval: againIfOld,
    })),
  })
  const gateways = read.flatMap(({ data }) => (data ? [data] : []))
  return {
    gateways: list.data && gateways.length === records.length ? gateways : undefined,
    error: list.error ?? read.map(({ data, error }) => failureOf(data, error)).find(Boolean),
    refetch: () => {
      void list.refetch()
      for (const each of read) void each.refetch()
    },
  }
}

/** What of a data centre reaches what, as a drawing and as a table. */
export function ReachPage() {
  usePageTitle({ text: 'Who reaches whom' })
  const [search, change] = useSearch(schema)
  const { data, error, refetch } = useRecords('orgVdcNetwork', { sort: 'name' })
  const all = data?.records ?? []
  const vdcs = [...new Set(all.map(({ vdcName }) => vdcName ?? ''))].toSorted()
  const vdc = vdcs.includes(search.vdc) ? search.vdc : (all[0]?.vdcName ?? '')
  const networks = all.filter(({ vdcName }) => vdcName === vdc)
  const names = useVmNames(networks)
  const { gateways, ...reading } = useGateways(vdc)
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />
  // Without the rules the drawing would say that nothing passes.
  if (reading.error) return <ErrorState error={reading.error} onRetry={reading.refetch} />
  if (!data || !gateways) return <div className={page['page']} aria-busy="true" />
  const facts: ReachFacts = {
    gateways: gateways.map(reachGatewayOf),
    networks: networks.map((each) => ({
      name: each.name,
      href: each.href,
      kind: kindOfLink(each.linkType),
      external: each.connectedTo,
      range: rangeText(each.defaultGateway, each.netmask) ?? '',
      vms: each.usedIpCount,
      vmNames: names.get(each.href) ?? [],
    })),
  }
  return (
    <div className={`${page['page']} ${page['scrolling']}`}>
      {vdcs.length > 1 && (
        <FilterBar>
          <Chips
            label="Data centre"
            value={vdc}
            options={vdcs.map((name) => ({ value: name, text: name }))}
            onChange={(next) => change({ vdc: next })}
          />
        </FilterBar>
      )}
      {all.length === 0 ? (
        <EmptyState title="No networks yet">
          <p>
            The first VM of an organisation makes its network, if the site has a network server.
          </p>
        </EmptyState>
      ) : (
        <Reach facts={facts} vdc={vdc} />
      )}
    </div>
  )
}

function Reach({ facts, vdc }: { readonly facts: ReachFacts; readonly vdc: string }) {
  return (
    <div className={page['stack']}>
      <Card title={`Networks of ${vdc}`} flush>
        <ReachDrawing facts={facts} title={vdc} />
      </Card>
      <Card title="The same as a table" flush>
        <Table
          label="Who reaches whom"
          rows={reachRows(facts, en.reach)}
          keyOf={({ from, to, by }) => `${from} ${to} ${by}`}
          empty="Nothing is connected."
          columns={columns}
        />
      </Card>
      <p className={page['small']}>
        VMs of one network reach each other. Rules are changed on the page of an edge gateway:{' '}
        {facts.gateways.map(({ name, href }, at) => (
          <span key={href}>
            {at > 0 && ', '}
            <Link className={page['link']} to={paths.edgeGateway(idOf(href))}>
              {name}
            </Link>
          </span>
        ))}
      </p>
      <GroupsNote />
    </div>
  )
}

/** Security groups are about VMs, not about networks: the drawing does not contain them. */
function GroupsNote() {
  const { data } = useRecords('securityGroup', { sort: 'name' })
  const groups = data?.records.filter(({ numberOfVMs: n }) => n > 0) ?? []
  if (groups.length === 0) return null
  return (
    <p className={page['small']}>
      Security groups limit some VMs further, on every network:{' '}
      {groups.map(({ name, href, numberOfVMs }, at) => (
        <span key={href}>
          {at > 0 && ', '}
          <Link className={page['link']} to={paths.securityGroup(idOf(href))}>
            {name}
          </Link>{' '}
          ({en.vms(numberOfVMs)})
        </span>
      ))}
    </p>
  )
}

const columns: readonly PageTableColumn<ReachRow>[] = [
  { key: 'from', title: 'From', isEssential: true, cell: ({ from }) => from },
  { key: 'to', title: 'To', isEssential: true, cell: ({ to }) => to },
  { key: 'by', title: 'By', cell: ({ by }) => <span className={page['soft']}>{by}</span> },
  {
    key: 'passage',
    title: 'Result',
    width: '9rem',
    isEssential: true,
    cell: ({ passage }) => <PassageLabel passage={passage} />,
  },
]
