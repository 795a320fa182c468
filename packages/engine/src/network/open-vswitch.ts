import { Fault } from '@skerry/fault'
import {
  map,
  mapOf,
  namedUuid,
  Ovsdb,
  set,
  setOf,
  uuid,
  uuidOf,
  type OvsdbOperation,
  type OvsdbRow,
} from '@skerry/ovsdb'

import type { Datapath } from '../host/known-overlay.ts'

const DATABASE = 'Open_vSwitch'
const OPEN_MS = 5000
/** How long ovs-vswitchd may take to apply a change. */
const APPLY_MS = 10_000

/** The configuration of this host's Open vSwitch, as far as it matters here. */
export interface SwitchState {
  readonly externalIds: ReadonlyMap<string, string>
  readonly tls: SwitchTls | undefined
  readonly bridges: ReadonlyMap<string, SwitchBridge>
  /** Which program forwards the packets of a new bridge. */
  readonly datapath: Datapath
  readonly applied: number
}

export interface SwitchBridge {
  readonly id: string
  readonly datapath: string
  /** The names of its ports. */
  readonly ports: ReadonlySet<string>
}

/** The files with which ovn-controller authenticates itself. */
export interface SwitchTls {
  readonly key: string
  readonly certificate: string
  readonly issuers: string
}

export interface NewBridge {
  readonly name: string
  /** The MAC address of its own device. */
  readonly mac?: string
  /** A card of the host that is a port of it from the start. */
  readonly card?: string
}

export interface WantedSwitch {
  readonly externalIds: Readonly<Record<string, string>>
  readonly tls: SwitchTls | undefined
  readonly bridges: readonly NewBridge[]
}

/** A connection to the database of this host's Open vSwitch. */
export async function openSwitch(socket: string): Promise<Ovsdb> {
  try {
    return await Ovsdb.open({ path: socket }, { timeoutMs: OPEN_MS })
  } catch (cause) {
    throw new Fault('unavailable', 'Open vSwitch does not answer', { cause })
  }
}

export async function readSwitch(db: Ovsdb): Promise<SwitchState> {
  const select = (table: string, columns: readonly string[]) =>
    ({ op: 'select', table, where: [], columns }) as const
  const [root, bridges, tls, ports] = await db.transact(DATABASE, [
    select('Open_vSwitch', ['external_ids', 'datapath_types', 'cur_cfg']),
    select('Bridge', ['_uuid', 'name', 'datapath_type', 'ports']),
    select('SSL', ['private_key', 'certificate', 'ca_cert']),
    select('Port', ['_uuid', 'name']),
  ])
  const row = root?.rows?.[0]
  if (!row) {
    throw new Fault('unavailable', 'the database of Open vSwitch is empty', {
      hint: 'restart it: sudo systemctl restart openvswitch-switch',
    })
  }
  const texts = [...mapOf(row['external_ids'])].map(([key, value]) => [key, String(value)] as const)
  const portNames = new Map(
    (ports?.rows ?? []).map((port) => [uuidOf(port['_uuid']), String(port['name'])]),
  )
  const named = (bridges?.rows ?? []).map(
    (each) =>
      [
        String(each['name']),
        {
          id: uuidOf(each['_uuid']),
          datapath: String(each['datapath_type']),
          ports: new Set(setOf(each['ports']).map((port) => portNames.get(uuidOf(port)) ?? '')),
        },
      ] as const,
  )
  return {
    externalIds: new Map(texts),
    tls: readTls(tls?.rows?.[0]),
    bridges: new Map(named),
    datapath: setOf(row['datapath_types']).includes('system') ? 'system' : 'netdev',
    applied: Number(row['cur_cfg']),
  }
}

const readTls = (row: OvsdbRow | undefined): SwitchTls | undefined =>
  row && {
    key: String(row['private_key']),
    certificate: String(row['certificate']),
    issuers: String(row['ca_cert']),
  }

/** The one transaction that brings the switch to this configuration; empty if it has it. All else stays as it is. */
export function changesTo(now: SwitchState, wanted: WantedSwitch): OvsdbOperation[] {
  const others = Object.entries(wanted.externalIds).filter(
    ([key, value]) => now.externalIds.get(key) !== value,
  )
  const missing = wanted.bridges.filter(({ name }) => !now.bridges.has(name))
  const operations = [
    ...(others.length > 0 ? [idsOf(Object.fromEntries(others))] : []),
    ...tlsOf(now.tls, wanted.tls),
    ...missing.flatMap((bridge, at) => bridgeOf(bridge, at, now.datapath)),
  ]
  if (operations.length === 0) return []
  const next = ['next_cfg', '+=', 1] as const
  return [...operations, { op: 'mutate', table: 'Open_vSwitch', where: [], mutations: [next] }]
}

const idsOf = (ids: Readonly<Record<string, string>>): OvsdbOperation => ({
  op: 'mutate',
  table: 'Open_vSwitch',
  where: [],
  mutations: [
    ['external_ids', 'delete', set(Object.keys(ids))],
    ['external_ids', 'insert', map(ids)],
  ],
})

/** A row that nothing refers to any more is deleted by the database. */
function tlsOf(now: SwitchTls | undefined, wanted: SwitchTls | undefined): OvsdbOperation[] {
  if (!wanted) return []
  const { key, certificate, issuers } = wanted
  if (now?.key === key && now.certificate === certificate && now.issuers === issuers) return []
  const row = { private_key: key, certificate, ca_cert: issuers }
  return [
    { op: 'insert', table: 'SSL', row, 'uuid-name': 'tls' },
    { op: 'update', table: 'Open_vSwitch', where: [], row: { ssl: namedUuid('tls') } },
  ]
}

/** The bridge of VMs forwards nothing without a controller: a card whose port is not known yet is silent. The others lead outside. */
function bridgeOf(
  { name, mac, card }: NewBridge,
  at: number,
  datapath: Datapath,
): OvsdbOperation[] {
  const bridge = `bridge${at}`
  const ports = [`port${at}`, ...(card === undefined ? [] : [`outside${at}`])]
  const isOutside = mac !== undefined || card !== undefined
  return [
    ...portOf({ name, type: 'internal' }, `port${at}`),
    ...(card === undefined ? [] : portOf({ name: card }, `outside${at}`)),
    {
      op: 'insert',
      table: 'Bridge',
      row: {
        name,
        ports: set(ports.map(namedUuid)),
        datapath_type: datapath === 'netdev' ? 'netdev' : '',
        ...(isOutside ? {} : { fail_mode: 'secure' }),
        other_config: map({
          ...(mac !== undefined && { hwaddr: mac }),
          ...(!isOutside && { 'disable-in-band': 'true' }),
        }),
      },
      'uuid-name': bridge,
    },
    {
      op: 'mutate',
      table: 'Open_vSwitch',
      where: [],
      mutations: [['bridges', 'insert', set([namedUuid(bridge)])]],
    },
  ]
}

function portOf(card: OvsdbRow & { readonly name: string }, port: string): OvsdbOperation[] {
  const row = { name: card.name, interfaces: namedUuid(`card_${port}`) }
  return [
    { op: 'insert', table: 'Interface', row: card, 'uuid-name': `card_${port}` },
    { op: 'insert', table: 'Port', row, 'uuid-name': port },
  ]
}

export async function changeSwitch(db: Ovsdb, operations: OvsdbOperation[]): Promise<void> {
  await db.transact(DATABASE, operations)
}

/** Waits until ovs-vswitchd has applied a change that was made after this state. */
export async function waitForSwitch(db: Ovsdb, { applied }: SwitchState): Promise<void> {
  try {
    await db.transact(DATABASE, [
      {
        op: 'wait',
        table: 'Open_vSwitch',
        where: [],
        columns: ['cur_cfg'],
        until: '!=',
        rows: [{ cur_cfg: applied }],
        timeout: APPLY_MS,
      },
    ])
  } catch (cause) {
    throw new Fault('unavailable', 'ovs-vswitchd does not apply changes', { cause })
  }
}

/** The ports of VMs on this bridge, with the name of their device. */
export async function guestPorts(
  db: Ovsdb,
  bridge: string,
): Promise<{ readonly id: string; readonly device: string }[]> {
  const [at] = await db.select(DATABASE, 'Bridge', ['ports'], [['name', '==', bridge]])
  if (!at) return []
  const own = new Set(setOf(at['ports']).map(uuidOf))
  const ports = await db.select(DATABASE, 'Port', ['_uuid', 'name', 'interfaces'])
  const cards = await db.select(DATABASE, 'Interface', ['_uuid', 'name', 'external_ids'])
  // libvirt marks the ports that it makes.
  const guests = new Set(
    cards
      .filter((card) => mapOf(card['external_ids']).has('attached-mac'))
      .map((card) => uuidOf(card['_uuid'])),
  )
  return ports
    .filter((port) => own.has(uuidOf(port['_uuid'])))
    .filter((port) => setOf(port['interfaces']).some((card) => guests.has(uuidOf(card))))
    .map((port) => ({ id: uuidOf(port['_uuid']), device: String(port['name']) }))
}

export async function dropPorts(db: Ovsdb, bridge: string, ids: readonly string[]): Promise<void> {
  await db.transact(DATABASE, [
    {
      op: 'mutate',
      table: 'Bridge',
      where: [['name', '==', bridge]],
      mutations: [['ports', 'delete', set(ids.map(uuid))]],
    },
  ])
}
