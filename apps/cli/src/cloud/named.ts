import { linkTo, query, quoted, type Record as Found } from '@skerry/cloud-client'
import { UUID } from '@skerry/vm'
import { attribute } from '@skerry/xml'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'

/** A kind of cloud resource. */
export interface Kind {
  /** Display name: VM, vApp. */
  readonly called: string
  /** Type in the query API. */
  readonly type: string
  /** The command that lists them. */
  readonly listed: string
  /** Type in a URN; resources without one cannot be resolved by URN. */
  readonly urn?: string
  /** Path prefix for those without a URN. */
  readonly at?: string
}

/** A resource that was found. */
export interface NamedResource {
  readonly href: string
  readonly name: string
}

export const kinds = {
  vm: { called: 'VM', type: 'vm', listed: 'skerry list', urn: 'vm' },
  vapp: { called: 'vApp', type: 'vApp', listed: 'skerry vapp list', urn: 'vapp' },
  vdc: { called: 'data centre', type: 'orgVdc', listed: 'skerry vdc list', urn: 'vdc' },
  template: {
    called: 'template',
    type: 'vAppTemplate',
    listed: 'skerry template list',
    urn: 'vapptemplate',
  },
  host: { called: 'host', type: 'host', listed: 'skerry host list', at: '/api/admin/host/' },
  org: { called: 'organisation', type: 'organization', listed: 'skerry org list', urn: 'org' },
  network: {
    called: 'network',
    type: 'orgVdcNetwork',
    listed: 'skerry network list',
    urn: 'network',
  },
  edge: {
    called: 'edge gateway',
    type: 'edgeGateway',
    listed: 'skerry edge list',
    urn: 'gateway',
  },
  external: {
    called: 'external network',
    type: 'externalNetwork',
    listed: 'skerry external list',
    at: '/api/admin/extension/externalnet/',
  },
  securityGroup: {
    called: 'security group',
    type: 'securityGroup',
    listed: 'skerry security-group list',
    urn: 'securitygroup',
  },
  catalog: { called: 'catalog', type: 'catalog', listed: 'skerry catalog list', urn: 'catalog' },
} as const satisfies Record<string, Kind>

const ID = new RegExp(`^(?:([A-Za-z]+)-)?(${UUID})$`)
/** Candidates read for an error message: what fits in a line. */
const MOST = 6

/** The id: the last segment of an href, to name a resource whose name is not unique. */
export const idIn = (href: string | undefined): string => (href ?? '').split('/').at(-1) ?? ''

/** The id in a word, if it is one; VMs, vApps and templates may have their type as a prefix. */
export function idOf({ urn = '' }: Pick<Kind, 'urn'>, word: string): string | undefined {
  const [, prefix = urn, id] = ID.exec(word) ?? []
  return prefix.toLowerCase() === urn ? id : undefined
}

const matching = (side: CloudSession, type: string, filter: string): Promise<Found[]> =>
  Array.fromAsync(query(side.cloud, { type, filter, limit: MOST }))

const thingOf = ({ href = '', name = '' }: Found): NamedResource => ({ href, name })

/** Finds a VM by its id, by its name, as VAPP/VM, or as the only VM of the vApp with this name. */
export async function vmNamed(side: CloudSession, word: string): Promise<NamedResource> {
  const id = idOf(kinds.vm, word)
  if (id !== undefined) return byId(side, kinds.vm, id)
  const slash = word.indexOf('/')
  const [vapp, name] = [quoted(word.slice(0, slash)), quoted(word.slice(slash + 1))]
  const tries = [
    `name==${quoted(word)}`,
    ...(slash > 0 ? [`containerName==${vapp};name==${name}`] : []),
    `containerName==${quoted(word)}`,
  ]
  for (const filter of tries) {
    const found = await matching(side, kinds.vm.type, filter)
    const [only, other] = found
    if (only && !other) return thingOf(only)
    if (!only) continue
    throw new Failure('refused', `several VMs match ${word}`, {
      hint: `use one of: ${choices(found)}`,
    })
  }
  throw notThere(kinds.vm, word)
}

/** Finds a resource of this kind by its id or its exact name. */
export async function oneNamed(
  side: CloudSession,
  kind: Kind,
  word: string,
): Promise<NamedResource> {
  const found = await findNamed(side, kind, word)
  if (found) return found
  throw notThere(kind, word)
}

/** The same; undefined if there is none of this name. */
export async function findNamed(
  side: CloudSession,
  kind: Kind,
  word: string,
): Promise<NamedResource | undefined> {
  const id = idOf(kind, word)
  if (id !== undefined) return byId(side, kind, id)
  const found = await matching(side, kind.type, `name==${quoted(word)}`)
  const [only, other] = found
  if (!other) return only && thingOf(only)
  throw new Failure('refused', `several resources match ${kind.called} ${word}`, {
    hint: `use the id: ${found.map(({ href }) => idIn(href)).join(', ')}`,
  })
}

/** Queries find names; the entity resolver finds ids. */
async function byId(
  { cloud }: CloudSession,
  { urn, at }: Kind,
  id: string,
): Promise<NamedResource> {
  const urnOf = `urn:skerry:${urn}:${id}`
  const href =
    at === undefined ? linkTo(await cloud.get(`/api/entity/${urnOf}`), 'alternate') : `${at}${id}`
  return { href, name: attribute(await cloud.get(href), 'name') ?? id }
}

export const notThere = ({ called, listed }: Kind, word: string): Failure =>
  new Failure('refused', `there is no ${called} ${word}`, { hint: `${listed} lists them` })

/** Each by VAPP/VM if that is unique, otherwise by id. */
function choices(found: readonly Found[]): string {
  const whole = found.map((each) => `${each['containerName']}/${each['name']}`)
  const isOnly = (name: string) => whole.filter((each) => each === name).length === 1
  return found.map(({ href }, at) => (isOnly(whole[at] ?? '') ? whole[at] : idIn(href))).join(', ')
}
