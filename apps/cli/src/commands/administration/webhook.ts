import { linkTo } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { sessionIn } from '../../cloud/session-in.ts'
import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { entryNamed, orgOption, readOrgList, removeEntry, type OrgList } from './org-list.ts'

const list: OrgList = {
  called: 'webhook',
  type: 'admin.webhooks',
  element: 'Webhook',
  listed: 'skerry webhook list',
}

interface Webhook {
  readonly name: string
  readonly url: string
  readonly enabled: boolean
  /** Empty: all. */
  readonly kinds: readonly string[]
  /** Events that the receiver has not taken yet, up to 1000. */
  readonly behind: number
  /** asked, failing or gone. */
  readonly disabledBecause?: string
  readonly failingSince?: string
  readonly nextAttempt?: string
  readonly lastAnswer?: string
}

interface Delivery {
  readonly at: string
  readonly taken: boolean
  readonly answer: string
  readonly milliseconds: number
  readonly events: number
  readonly firstEvent: string
}

const columns: readonly TableColumn<Webhook>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'URL', cell: ({ url }) => url },
  {
    head: 'STATE',
    cell: stateOf,
    colour: (webhook) => (stateOf(webhook) === 'working' ? undefined : 'yellow'),
  },
  { head: 'BEHIND', cell: ({ behind }) => String(behind) },
  { head: 'KINDS', cell: ({ kinds }) => (kinds.length === 0 ? 'all' : kinds.join(' ')) },
]

const deliveryColumns: readonly TableColumn<Delivery>[] = [
  { head: 'AT', cell: ({ at }) => at },
  {
    head: 'ANSWER',
    cell: ({ answer }) => answer,
    colour: ({ taken }) => (taken ? undefined : 'yellow'),
  },
  { head: 'MS', cell: ({ milliseconds }) => String(milliseconds) },
  { head: 'EVENTS', cell: ({ events }) => String(events) },
  { head: 'FIRST EVENT', cell: ({ firstEvent }) => firstEvent },
]

const why: Readonly<Record<string, string>> = {
  asked: 'disabled',
  failing: 'given up after three days',
  gone: 'given up, it answered 410',
}

function stateOf({ disabledBecause, failingSince, lastAnswer = '' }: Webhook): string {
  if (disabledBecause !== undefined) return why[disabledBecause] ?? 'disabled'
  return failingSince === undefined ? 'working' : `failing since ${failingSince}: ${lastAnswer}`
}

const textsIn = (document: Element | undefined, name: string): readonly string[] =>
  childrenByLocalName(document, name).map((each) => text(each) ?? '')

function webhookIn(document: Element | undefined): Webhook {
  const [disabledBecause] = textsIn(document, 'DisabledBecause')
  const [failingSince] = textsIn(document, 'FailingSince')
  const [nextAttempt] = textsIn(document, 'NextAttempt')
  const [lastAnswer] = textsIn(document, 'LastAnswer')
  return {
    name: attribute(document, 'name') ?? '',
    url: textsIn(document, 'Url')[0] ?? '',
    enabled: textsIn(document, 'IsEnabled')[0] === 'true',
    kinds: textsIn(document, 'Kind'),
    behind: Number(textsIn(document, 'Behind')[0] ?? 0),
    ...(disabledBecause !== undefined && { disabledBecause }),
    ...(failingSince !== undefined && { failingSince }),
    ...(nextAttempt !== undefined && { nextAttempt }),
    ...(lastAnswer !== undefined && { lastAnswer }),
  }
}

const deliveriesIn = (document: Element): readonly Delivery[] =>
  childrenByLocalName(document, 'Delivery').map((each) => ({
    at: attribute(each, 'at') ?? '',
    taken: attribute(each, 'taken') === 'true',
    answer: attribute(each, 'answer') ?? '',
    milliseconds: Number(attribute(each, 'milliseconds')),
    events: Number(attribute(each, 'events')),
    firstEvent: attribute(each, 'firstEvent') ?? '',
  }))

const settings = (url: string, kinds: readonly string[], enabled?: boolean): readonly Element[] => [
  ...(enabled === undefined ? [] : [element('IsEnabled', {}, String(enabled))]),
  element('Url', {}, url),
  ...kinds.map((kind) => element('Kind', {}, kind)),
]

const kindsOf = (option: string | undefined): readonly string[] | undefined =>
  option?.split(',').filter((kind) => kind !== '')

const kindsOption = {
  type: 'string',
  value: 'KIND,...',
  doc: 'kinds of events, like task.error, or vm. for all that begin with it (default: all)',
} as const

export const webhook = [
  command({
    name: 'webhook list',
    asks: 'cloud',
    usage: '',
    summary: 'list the webhooks of an organisation, which get its events',
    examples: ['skerry webhook list', 'skerry webhook list --org blue'],
    next: 'skerry webhook info NAME shows what its receiver answered',
    options: orgOption,
    async run(context, { options, json }) {
      const found = await readOrgList(sessionIn(context), list, options.org)
      const webhooks = childrenByLocalName(found, 'Webhook').map(webhookIn)
      context.print(
        json ? JSON.stringify(webhooks, null, 2) : renderTable(columns, webhooks, context.colours),
      )
    },
  }),
  command({
    name: 'webhook info',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'show a webhook and its last messages',
    examples: ['skerry webhook info siem'],
    next: 'skerry webhook resend NAME --from EVENT sends the events from one of them on again',
    options: orgOption,
    async run(context, { words: [name = ''], options, json }) {
      const document = await entryNamed(sessionIn(context), list, options.org, name)
      const shown = { ...webhookIn(document), deliveries: deliveriesIn(document) }
      if (json) return context.print(JSON.stringify(shown, null, 2))
      const { url, behind, kinds, deliveries } = shown
      context.print(
        `${name}: ${stateOf(shown)}\nurl: ${url}\nkinds: ${kinds.join(' ') || 'all'}\nevents behind: ${behind}`,
      )
      context.print(renderTable(deliveryColumns, deliveries, context.colours))
    },
  }),
  command({
    name: 'webhook create',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'send the events of an organisation to a URL from now on, and print the secret',
    examples: [
      'skerry webhook create siem --to https://siem.example/events',
      'skerry webhook create pager --to https://pager.example/in --kinds task.error,host.',
    ],
    next: 'give the secret to the receiver, then skerry webhook test NAME',
    options: {
      ...orgOption,
      to: { type: 'string', value: 'URL', doc: 'where messages are sent' },
      kinds: kindsOption,
    },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const { to, kinds } = options
      if (to === undefined) throw new Failure('usage', 'give --to')
      const where = linkTo(await readOrgList(side, list, options.org), 'add', 'admin.webhook')
      const body = element('Webhook', { name }, ...settings(to, kindsOf(kinds) ?? []))
      const made = await side.cloud.act('POST', where, { body })
      const secret = textsIn(made, 'Secret')[0] ?? ''
      context.print(
        json
          ? JSON.stringify({ ...webhookIn(made), secret }, null, 2)
          : `webhook ${name} is created\nsecret, shown only now: ${secret}`,
      )
    },
  }),
  command({
    name: 'webhook set',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'change the URL, kinds or secret of a webhook, disable or enable it',
    examples: [
      'skerry webhook set siem --kinds user.,session.',
      'skerry webhook set siem --enable',
      'skerry webhook set siem --new-secret',
    ],
    next: 'skerry webhook test NAME',
    options: {
      ...orgOption,
      to: { type: 'string', value: 'URL', doc: 'where messages are sent' },
      kinds: { ...kindsOption, doc: `${kindsOption.doc}; '' for all` },
      enable: { type: 'boolean', doc: 'send from where it stopped' },
      disable: { type: 'boolean', doc: 'send nothing' },
      'new-secret': {
        type: 'boolean',
        doc: 'make a new secret and print it; the one before signs too for 24 hours',
      },
    },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const { to, kinds, enable = false, disable = false, 'new-secret': renews = false } = options
      const changes = to !== undefined || kinds !== undefined || enable || disable
      if (enable && disable) throw new Failure('usage', 'give --enable or --disable, not both')
      if (!changes && !renews) {
        throw new Failure('usage', 'give --to, --kinds, --enable, --disable or --new-secret')
      }
      let document = await entryNamed(side, list, options.org, name)
      if (changes) {
        const before = webhookIn(document)
        const enabled = enable ? true : disable ? false : undefined
        const now = settings(to ?? before.url, kindsOf(kinds) ?? before.kinds, enabled)
        const where = linkTo(document, 'edit', 'admin.webhook')
        await side.cloud.act('PUT', where, { body: element('Webhook', {}, ...now) })
        document = await entryNamed(side, list, options.org, name)
      }
      const renewed = renews
        ? await side.cloud.act('POST', linkTo(document, 'replaceSecret'))
        : undefined
      const [secret] = textsIn(renewed, 'Secret')
      const shown = { ...webhookIn(document), ...(secret !== undefined && { secret }) }
      if (json) return context.print(JSON.stringify(shown, null, 2))
      context.print(`webhook ${name} is changed`)
      if (secret !== undefined) context.print(`secret, shown only now: ${secret}`)
    },
  }),
  command({
    name: 'webhook test',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'send a test message to a webhook, and show what its receiver answers',
    examples: ['skerry webhook test siem'],
    next: 'skerry webhook info NAME',
    options: orgOption,
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const document = await entryNamed(side, list, options.org, name)
      const tested = await side.cloud.act('POST', linkTo(document, 'test'))
      const answer = textsIn(tested, 'Message')[0] ?? ''
      if (attribute(tested, 'taken') !== 'true') throw new Failure('refused', answer)
      context.print(json ? JSON.stringify({ name, answer }, null, 2) : `the receiver ${answer}`)
    },
  }),
  command({
    name: 'webhook resend',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'send the events of a webhook again, from one of them on, in their order',
    examples: ['skerry webhook resend siem --from EVENT', 'skerry webhook resend siem --from 0-0'],
    next: 'skerry webhook info NAME shows the messages',
    options: {
      ...orgOption,
      from: {
        type: 'string',
        value: 'EVENT',
        doc: 'id of an event that was sent, as webhook info shows it; 0-0: all that are kept',
      },
    },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const { from } = options
      if (from === undefined) throw new Failure('usage', 'give --from EVENT')
      const document = await entryNamed(side, list, options.org, name)
      const where = linkTo(document, 'resend', 'admin.resendParams')
      const body = element('ResendParams', {}, element('From', {}, from))
      const changed = webhookIn(await side.cloud.act('POST', where, { body }))
      context.print(
        json ? JSON.stringify(changed, null, 2) : `webhook ${name} sends from there on again`,
      )
    },
  }),
  command({
    name: 'webhook rm',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'remove a webhook; its receiver gets nothing any more',
    examples: ['skerry webhook rm siem'],
    next: 'skerry webhook list lists the others',
    options: orgOption,
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const { removed, message } = await removeEntry(side, list, options.org, name)
      context.print(json ? JSON.stringify({ removed }, null, 2) : message)
    },
  }),
]
