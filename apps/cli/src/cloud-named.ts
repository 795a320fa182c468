import { linkTo, query, quoted, type Record as Found } from '@skerry/cloud-client'
import { attribute } from '@skerry/xml'

import type { CloudSide } from './cloud-side.ts'
import { Failure } from './failure.ts'

/** One kind of things in a cloud. */
export interface Kind {
  /** In a sentence: VM, vApp. */
  readonly called: string
  /** In a query. */
  readonly type: string
  /** The command that lists them. */
  readonly listed: string
  /** What a URN calls it; the resolver knows nothing of what has none. */
  readonly urn?: string
  /** Where one of those is by its id. */
  readonly at?: string
}

/** Something that was found: where it is and what it is called. */
export interface Thing {
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
  catalog: { called: 'catalog', type: 'catalog', listed: 'skerry catalog list', urn: 'catalog' },
} as const satisfies Record<string, Kind>

const ID = /^(?:([A-Za-z]+)-)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/
/** As many are looked at as can be told in a line. */
const MOST = 6

/** The last part of an address, by which a thing can be named when its name is another's too. */
export const idIn = (href: string | undefined): string => (href ?? '').split('/').at(-1) ?? ''

/** The id that a word is: VMs, vApps and templates may tell what they are before it. */
export function idOf({ urn = '' }: Pick<Kind, 'urn'>, word: string): string | undefined {
  const [, prefix = urn, id] = ID.exec(word) ?? []
  return prefix.toLowerCase() === urn ? id : undefined
}

const matching = (side: CloudSide, type: string, filter: string): Promise<Found[]> =>
  Array.fromAsync(query(side.cloud, { type, filter, limit: MOST }))

const thingOf = ({ href = '', name = '' }: Found): Thing => ({ href, name })

/** The VM that is meant: by its id, by its name, as VAPP/VM, or as the only one of the vApp of this name. */
export async function vmNamed(side: CloudSide, word: string): Promise<Thing> {
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
    throw new Failure('refused', `several VMs are meant by ${word}`, {
      hint: `name one of them: ${choices(found)}`,
    })
  }
  throw notThere(kinds.vm, word)
}

/** The thing of this kind that is meant: by its id, or by its whole name. */
export async function oneNamed(side: CloudSide, kind: Kind, word: string): Promise<Thing> {
  const found = await findNamed(side, kind, word)
  if (found) return found
  throw notThere(kind, word)
}

/** The same, where there may be none of this name. */
export async function findNamed(
  side: CloudSide,
  kind: Kind,
  word: string,
): Promise<Thing | undefined> {
  const id = idOf(kind, word)
  if (id !== undefined) return byId(side, kind, id)
  const found = await matching(side, kind.type, `name==${quoted(word)}`)
  const [only, other] = found
  if (!other) return only && thingOf(only)
  throw new Failure('refused', `there are several: ${kind.called} ${word}`, {
    hint: `name it by its id: ${found.map(({ href }) => idIn(href)).join(', ')}`,
  })
}

/** Queries know names, and the resolver knows ids. */
async function byId({ cloud }: CloudSide, { urn, at }: Kind, id: string): Promise<Thing> {
  const urnOf = `urn:skerry:${urn}:${id}`
  const href =
    at === undefined ? linkTo(await cloud.get(`/api/entity/${urnOf}`), 'alternate') : `${at}${id}`
  return { href, name: attribute(await cloud.get(href), 'name') ?? id }
}

export const notThere = ({ called, listed }: Kind, word: string): Failure =>
  new Failure('refused', `there is no ${called} ${word}`, { hint: `${listed} shows all there are` })

/** Each by the shortest name that is no other's. */
function choices(found: readonly Found[]): string {
  const whole = found.map((each) => `${each['containerName']}/${each['name']}`)
  const isOnly = (name: string) => whole.filter((each) => each === name).length === 1
  return found.map(({ href }, at) => (isOnly(whole[at] ?? '') ? whole[at] : idIn(href))).join(', ')
}
