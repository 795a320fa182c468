import { linkTo } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { kinds, oneNamed } from '../../cloud/named.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'

const SHAPE = 'ControlAccessParams'
const ROOT = 'controlAccess'

/** As users write a level, and as the API does. */
const levels = { 'read-only': 'ReadOnly', change: 'Change', 'full-control': 'FullControl' } as const
type Level = keyof typeof levels
const isLevel = (word: string): word is Level => Object.hasOwn(levels, word)

/** With whom something is shared, and what they may do with it. */
interface Share {
  readonly type: 'everyone' | 'user' | 'group'
  readonly name: string
  /** The identity server of a group. */
  readonly provider: string
  readonly level: string
}

const columns: readonly TableColumn<Share>[] = [
  { head: 'SHARED WITH', cell: ({ type }) => type },
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'PROVIDER', cell: ({ provider }) => provider },
  { head: 'LEVEL', cell: ({ level }) => level },
]

const levelOf = (written: string | undefined): string =>
  Object.entries(levels).find(([, name]) => name === written)?.[0] ?? written ?? ''

const childText = (node: Element | undefined, name: string): string | undefined => {
  const [found] = childrenByLocalName(node, name)
  return found && text(found)
}

function sharesIn(document: Element | undefined): readonly Share[] {
  const everyone = childText(document, 'EveryoneAccessLevel')
  const settings = childrenByLocalName(document, 'AccessSettings').flatMap((each) =>
    childrenByLocalName(each, 'AccessSetting'),
  )
  return [
    ...(everyone === undefined
      ? []
      : [{ type: 'everyone', name: '', provider: '', level: levelOf(everyone) } as const]),
    ...settings.map((each): Share => {
      const [subject] = childrenByLocalName(each, 'Subject')
      return {
        type: attribute(subject, 'type') === 'group' ? 'group' : 'user',
        name: attribute(subject, 'name') ?? '',
        provider: attribute(subject, 'provider') ?? '',
        level: levelOf(childText(each, 'AccessLevel')),
      }
    }),
  ]
}

function bodyOf(shares: readonly Share[]): Element {
  const everyone = shares.find(({ type }) => type === 'everyone')
  const wire = (level: string): string => (isLevel(level) ? levels[level] : level)
  const settings = shares.flatMap(({ type, name, provider, level }) =>
    type === 'everyone'
      ? []
      : [
          element(
            'AccessSetting',
            {},
            element('Subject', { type, name, provider: provider === '' ? undefined : provider }),
            element('AccessLevel', {}, wire(level)),
          ),
        ],
  )
  return element(
    SHAPE,
    {},
    element('IsSharedToEveryone', {}, String(everyone !== undefined)),
    everyone && element('EveryoneAccessLevel', {}, wire(everyone.level)),
    settings.length > 0 && element('AccessSettings', {}, ...settings),
  )
}

const whatOption = {
  catalog: { type: 'string', value: 'CATALOG', doc: 'a catalog instead of a vApp' },
} as const
const whomOptions = {
  user: { type: 'string', value: 'USER', doc: 'a user of the organisation' },
  group: {
    type: 'string',
    value: 'NAME',
    doc: 'a group of an identity server that has a role in the organisation; with --provider',
  },
  provider: { type: 'string', value: 'NAME', doc: 'the identity server of the group' },
  everyone: { type: 'boolean', doc: 'everyone in the organisation' },
} as const

interface What {
  readonly catalog?: string | undefined
}
interface Whom {
  readonly user?: string | undefined
  readonly group?: string | undefined
  readonly provider?: string | undefined
  readonly everyone?: boolean | undefined
}

/** The list of a vApp or a catalog. */
async function listFor(
  side: CloudSession,
  vapp: string | undefined,
  { catalog }: What,
): Promise<{ readonly called: string; readonly list: Element }> {
  if ((vapp === undefined) === (catalog === undefined)) {
    throw new Failure('usage', 'give VAPP, or --catalog CATALOG')
  }
  const [kind, word] = catalog === undefined ? [kinds.vapp, vapp ?? ''] : [kinds.catalog, catalog]
  const { href, name } = await oneNamed(side, kind, word)
  const links = childrenByLocalName(await side.cloud.get(href), 'Link')
  // The other link of this relation changes the list.
  const found = links.find(
    (each) => attribute(each, 'rel') === ROOT && attribute(each, 'type') === undefined,
  )
  const list = await side.cloud.get(attribute(found, 'href') ?? `${href}/${ROOT}`)
  return { called: `${kind.called} ${name}`, list }
}

function whomIn({ user, group, provider, everyone }: Whom): Omit<Share, 'level'> {
  const given = [user !== undefined, group !== undefined, everyone === true].filter(Boolean)
  if (given.length !== 1) {
    throw new Failure('usage', 'give one of --user USER, --group NAME and --everyone')
  }
  if ((group === undefined) !== (provider === undefined)) {
    throw new Failure('usage', 'give --group NAME together with --provider NAME')
  }
  if (everyone === true) return { type: 'everyone', name: '', provider: '' }
  // As in other commands, USER may have its organisation.
  if (user !== undefined) return { type: 'user', name: user.split('@')[0] ?? '', provider: '' }
  return { type: 'group', name: group ?? '', provider: provider ?? '' }
}

const isSame = (one: Omit<Share, 'level'>, other: Omit<Share, 'level'>): boolean =>
  one.type === other.type && one.name === other.name && one.provider === other.provider

const subjectText = ({ type, name, provider }: Omit<Share, 'level'>): string =>
  type === 'everyone' ? type : `${type} ${name}${provider === '' ? '' : ` of ${provider}`}`

const write = async (
  side: CloudSession,
  list: Element,
  shares: readonly Share[],
): Promise<readonly Share[]> =>
  sharesIn(await side.cloud.act('POST', linkTo(list, ROOT, ROOT), { body: bodyOf(shares) }))

export const access = [
  command({
    name: 'access list',
    asks: 'cloud',
    usage: '[VAPP]',
    summary: 'list with whom a vApp or a catalog is shared',
    examples: ['skerry access list shop', 'skerry access list --catalog main'],
    next: 'skerry access set VAPP --user USER shares it',
    options: whatOption,
    async run(context, { words: [vapp], options, json }) {
      const { list } = await listFor(sessionIn(context), vapp, options)
      const shares = sharesIn(list)
      context.print(
        json ? JSON.stringify(shares, null, 2) : renderTable(columns, shares, context.colours),
      )
    },
  }),
  command({
    name: 'access set',
    asks: 'cloud',
    usage: '[VAPP]',
    summary: 'share a vApp or a catalog with a user, a group or everyone, or change the level',
    examples: [
      'skerry access set shop --user bob --level change',
      'skerry access set shop --group developers --provider corp',
      'skerry access set --catalog main --everyone',
    ],
    next: 'skerry access list VAPP shows the result',
    options: {
      ...whatOption,
      ...whomOptions,
      level: {
        type: 'string',
        value: 'LEVEL',
        doc: 'read-only, change or full-control (default: read-only)',
      },
    },
    async run(context, { words: [vapp], options, json }) {
      const side = sessionIn(context)
      const whom = whomIn(options)
      const { level = 'read-only' } = options
      if (!isLevel(level)) {
        throw new Failure('usage', `--level must be ${Object.keys(levels).join(', ')}`)
      }
      const { called, list } = await listFor(side, vapp, options)
      const others = sharesIn(list).filter((each) => !isSame(each, whom))
      const shares = await write(side, list, [...others, { ...whom, level }])
      context.print(
        json
          ? JSON.stringify(shares, null, 2)
          : `${called} is shared with ${subjectText(whom)}: ${level}`,
      )
    },
  }),
  command({
    name: 'access rm',
    asks: 'cloud',
    usage: '[VAPP]',
    summary: 'stop sharing a vApp or a catalog with a user, a group or everyone',
    examples: ['skerry access rm shop --user bob', 'skerry access rm --catalog main --everyone'],
    next: 'skerry access list VAPP lists the others',
    options: { ...whatOption, ...whomOptions },
    async run(context, { words: [vapp], options, json }) {
      const side = sessionIn(context)
      const whom = whomIn(options)
      const { called, list } = await listFor(side, vapp, options)
      const before = sharesIn(list)
      const others = before.filter((each) => !isSame(each, whom))
      if (others.length === before.length) {
        throw new Failure('refused', `${called} is not shared with ${subjectText(whom)}`, {
          hint: 'skerry access list lists with whom it is',
        })
      }
      const shares = await write(side, list, others)
      context.print(
        json
          ? JSON.stringify(shares, null, 2)
          : `${called} is no longer shared with ${subjectText(whom)}`,
      )
    },
  }),
]
