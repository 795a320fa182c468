import { readFile } from 'node:fs/promises'

import { linkTo } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { adminOrg } from '../../cloud/admin-org.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'

interface IdentityServer {
  readonly name: string
  readonly kind: string
  readonly urls: readonly string[]
  readonly enabled: boolean
  readonly groups: Readonly<Record<string, string>>
  /** Since when it does not answer; absent if it does. */
  readonly silentSince?: string
  /** Since when its mass departure of users is not believed. */
  readonly doubtedSince?: string
}

const columns: readonly TableColumn<IdentityServer>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'URL', cell: ({ urls }) => urls.join(' ') },
  {
    head: 'STATE',
    cell: stateOf,
    colour: (server) => (stateOf(server) === 'enabled' ? undefined : 'yellow'),
  },
  {
    head: 'GROUPS',
    cell: ({ groups }) =>
      Object.entries(groups)
        .map(([name, role]) => `${name}=${role}`)
        .join(', '),
  },
]

function stateOf({ enabled, silentSince, doubtedSince }: IdentityServer): string {
  if (!enabled) return 'disabled'
  if (silentSince !== undefined) return `silent since ${silentSince}`
  return doubtedSince === undefined ? 'enabled' : `not believed since ${doubtedSince}`
}

const textsIn = (document: Element | undefined, name: string): readonly string[] =>
  childrenByLocalName(document, name).map((each) => text(each) ?? '')

function serverIn(document: Element | undefined): IdentityServer {
  const [silentSince] = textsIn(document, 'SilentSince')
  const [doubtedSince] = textsIn(document, 'DoubtedSince')
  return {
    name: attribute(document, 'name') ?? '',
    kind: attribute(document, 'kind') ?? '',
    urls: textsIn(document, 'Url'),
    enabled: textsIn(document, 'IsEnabled')[0] === 'true',
    groups: Object.fromEntries(
      childrenByLocalName(document, 'GroupRole').map((each) => [
        attribute(each, 'name') ?? '',
        attribute(each, 'role') ?? '',
      ]),
    ),
    ...(silentSince !== undefined && { silentSince }),
    ...(doubtedSince !== undefined && { doubtedSince }),
  }
}

const listOf = async (side: CloudSession, org: string | undefined): Promise<Element> =>
  side.cloud.get(linkTo(await adminOrg(side, org), 'down', 'admin.identityProviders'))

async function serverNamed(
  side: CloudSession,
  org: string | undefined,
  name: string,
): Promise<Element> {
  const found = childrenByLocalName(await listOf(side, org), 'IdentityProviderReference').find(
    (each) => attribute(each, 'name') === name,
  )
  if (found) return side.cloud.get(attribute(found, 'href') ?? '')
  throw new Failure('refused', `there is no identity server ${name}`, {
    hint: 'skerry identity list lists them',
  })
}

/** GROUP=ROLE, where GROUP may be a DN and contain = itself. */
function groupRole(word: string): Element {
  const at = word.lastIndexOf('=')
  if (at > 0) return element('GroupRole', { name: word.slice(0, at), role: word.slice(at + 1) })
  throw new Failure('usage', `--group must be like developers=author, not ${word}`)
}

const inOrg = { type: 'string', value: 'ORG', doc: 'organisation (default: yours)' } as const
const groupOption = {
  type: 'string',
  value: 'GROUP=ROLE',
  multiple: true,
  doc: 'a group and its role; give it once for each group',
} as const

export const identity = [
  command({
    name: 'identity list',
    asks: 'cloud',
    usage: '',
    summary: 'list the identity servers of an organisation, and the roles of their groups',
    examples: ['skerry identity list', 'skerry identity list --org blue'],
    next: 'skerry identity test NAME asks one',
    options: { org: inOrg },
    async run(context, { options, json }) {
      const side = sessionIn(context)
      const servers: IdentityServer[] = []
      const found = childrenByLocalName(
        await listOf(side, options.org),
        'IdentityProviderReference',
      )
      for (const each of found) {
        servers.push(serverIn(await side.cloud.get(attribute(each, 'href') ?? '')))
      }
      context.print(
        json ? JSON.stringify(servers, null, 2) : renderTable(columns, servers, context.colours),
      )
    },
  }),
  command({
    name: 'identity create',
    asks: 'cloud',
    usage: 'NAME',
    summary:
      'let users of an organisation log in with an LDAP server; the password of its reader is typed or read from standard input',
    examples: [
      "skerry identity create corp --org blue --server ldaps://ldap.corp.example --reader cn=reader,dc=corp,dc=example --base dc=corp,dc=example --group 'cloud-admins=organisation administrator' --group developers=author",
      'skerry identity create corp --server ldaps://dc1.corp.example --reader reader@corp.example --base dc=corp,dc=example --active-directory --ca corp.pem --group developers=author',
    ],
    next: 'skerry identity test NAME',
    options: {
      org: inOrg,
      server: {
        type: 'string',
        value: 'URL',
        multiple: true,
        doc: 'ldaps://HOST, or ldap://HOST with --start-tls; give it again for other servers of the same directory',
      },
      'start-tls': {
        type: 'boolean',
        doc: 'begin in the clear and change to TLS before the login',
      },
      ca: { type: 'string', value: 'FILE', doc: 'file of CA certificates of the server' },
      reader: { type: 'string', value: 'DN', doc: 'the account that searches the directory' },
      base: { type: 'string', value: 'DN', doc: 'where people and groups are' },
      people: { type: 'string', value: 'DN', doc: 'where people are (default: --base)' },
      groups: { type: 'string', value: 'DN', doc: 'where groups are (default: --base)' },
      'active-directory': {
        type: 'boolean',
        doc: 'names are sAMAccountName, people are found by objectGUID, groups by one search',
      },
      group: groupOption,
    },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const { server = [], reader, base, people, groups, group = [] } = options
      if (server.length === 0 || reader === undefined || base === undefined) {
        throw new Failure('usage', 'give --server, --reader and --base')
      }
      const where = linkTo(await listOf(side, options.org), 'add', 'admin.identityProvider')
      const ca = options.ca === undefined ? undefined : await readFile(options.ca, 'utf8')
      const secret = await context.readSecret(`password of ${reader}: `)
      const isAd = options['active-directory'] === true
      const body = element(
        'IdentityProvider',
        { name, kind: 'ldap' },
        ...server.map((url) => element('Url', {}, url)),
        options['start-tls'] === true && element('StartTls', {}, 'true'),
        ca !== undefined && element('Ca', {}, ca),
        element('Reader', {}, reader),
        element('Password', {}, secret),
        element('Base', {}, base),
        element('People', {
          base: people,
          ...(isAd && {
            filter: '(&(objectCategory=person)(objectClass=user))',
            name: 'sAMAccountName',
            subject: 'objectGUID',
          }),
        }),
        element('Groups', { base: groups, ...(isAd && { nested: 'rule' }) }),
        ...group.map(groupRole),
      )
      const made = serverIn(await side.cloud.act('POST', where, { body }))
      context.print(
        json ? JSON.stringify(made, null, 2) : `identity server ${made.name} is created`,
      )
    },
  }),
  command({
    name: 'identity set',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'replace the groups of an identity server that have roles',
    examples: [
      "skerry identity set corp --group 'cloud-admins=organisation administrator' --group developers=author",
    ],
    next: 'skerry identity list shows the result; users have their new roles within 15 minutes',
    options: { org: inOrg, group: groupOption },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const { group = [] } = options
      if (group.length === 0) throw new Failure('usage', 'give --group GROUP=ROLE')
      const document = await serverNamed(side, options.org, name)
      const where = linkTo(document, 'edit', 'admin.groupRoles')
      const body = element('GroupRoles', {}, ...group.map(groupRole))
      const changed = serverIn(await side.cloud.act('PUT', where, { body }))
      context.print(json ? JSON.stringify(changed, null, 2) : `identity server ${name} is changed`)
    },
  }),
  command({
    name: 'identity test',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'ask an identity server as its reader, and count the people and groups it finds',
    examples: ['skerry identity test corp --org blue'],
    next: 'skerry login PROFILE URL --user USER@ORG, as a person of the directory',
    options: { org: inOrg },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const document = await serverNamed(side, options.org, name)
      const tested = await side.cloud.act('POST', linkTo(document, 'test'))
      const answers = attribute(tested, 'answers') === 'true'
      const message = textsIn(tested, 'Message')[0] ?? ''
      if (!answers) throw new Failure('refused', message)
      const counts = {
        people: Number(attribute(tested, 'people')),
        groups: Number(attribute(tested, 'groups')),
      }
      context.print(json ? JSON.stringify({ name, ...counts }, null, 2) : message)
    },
  }),
  command({
    name: 'identity rm',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'remove an identity server that no user depends on',
    examples: ['skerry identity rm corp --org blue'],
    next: 'skerry identity list lists the others',
    options: { org: inOrg },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const document = await serverNamed(side, options.org, name)
      await side.cloud.act('DELETE', linkTo(document, 'remove'))
      context.print(
        json ? JSON.stringify({ removed: name }, null, 2) : `identity server ${name} is removed`,
      )
    },
  }),
]
