import { readFile } from 'node:fs/promises'

import { linkTo } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { sessionIn } from '../../cloud/session-in.ts'
import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { entryNamed, orgOption, readOrgList, removeEntry, type OrgList } from './org-list.ts'

const list: OrgList = {
  called: 'identity server',
  type: 'admin.identityProviders',
  element: 'IdentityProviderReference',
  listed: 'skerry identity list',
}

interface IdentityServer {
  readonly name: string
  readonly kind: string
  readonly urls: readonly string[]
  readonly enabled: boolean
  readonly groups: Readonly<Record<string, string>>
  /** Of an OpenID Connect server: the address that it must know. */
  readonly redirectUrl?: string
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
  const [redirectUrl] = textsIn(document, 'RedirectUrl')
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
    ...(redirectUrl !== undefined && { redirectUrl }),
    ...(silentSince !== undefined && { silentSince }),
    ...(doubtedSince !== undefined && { doubtedSince }),
  }
}

/** GROUP=ROLE, where GROUP may be a DN and contain = itself. */
function groupRole(word: string): Element {
  const at = word.lastIndexOf('=')
  if (at > 0) return element('GroupRole', { name: word.slice(0, at), role: word.slice(at + 1) })
  throw new Failure('usage', `--group must be like developers=author, not ${word}`)
}

interface CreateOptions {
  readonly server?: readonly string[] | undefined
  readonly reader?: string | undefined
  readonly base?: string | undefined
  readonly people?: string | undefined
  readonly groups?: string | undefined
  readonly 'start-tls'?: boolean | undefined
  readonly 'active-directory'?: boolean | undefined
  readonly issuer?: string | undefined
  readonly client?: string | undefined
  readonly scopes?: string | undefined
  readonly domain?: string | undefined
  readonly 'name-claim'?: string | undefined
  readonly 'groups-claim'?: string | undefined
  readonly 'proof-days'?: string | undefined
}

interface ServerSecrets {
  readonly ca: string | undefined
  readonly secret: string
}

/** The kind of the server, and the user or client that a cell logs in as. */
function kindOf(options: CreateOptions): readonly [kind: 'ldap' | 'oidc', login: string] {
  const { server = [], reader, base, issuer, client } = options
  if (issuer !== undefined) {
    if (client !== undefined && server.length === 0) return ['oidc', client]
    throw new Failure('usage', 'give --issuer and --client, without --server')
  }
  if (server.length > 0 && reader !== undefined && base !== undefined) return ['ldap', reader]
  throw new Failure('usage', 'give --server, --reader and --base, or --issuer and --client')
}

function ldapElements(options: CreateOptions, { ca, secret }: ServerSecrets) {
  const { server = [], reader, base, people, groups } = options
  const isAd = options['active-directory'] === true
  return [
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
  ]
}

function openIdElements(options: CreateOptions, { ca, secret }: ServerSecrets) {
  const { issuer, client, scopes, domain } = options
  return [
    element('Url', {}, issuer),
    ca !== undefined && element('Ca', {}, ca),
    element('Client', {}, client),
    element('Password', {}, secret),
    scopes !== undefined && element('Scopes', {}, scopes),
    element('Claims', { name: options['name-claim'], groups: options['groups-claim'] }),
    domain !== undefined && element('Domain', {}, domain),
    options['proof-days'] !== undefined && element('ProofDays', {}, options['proof-days']),
  ]
}

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
    options: orgOption,
    async run(context, { options, json }) {
      const side = sessionIn(context)
      const servers: IdentityServer[] = []
      const found = childrenByLocalName(
        await readOrgList(side, list, options.org),
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
      'let users of an organisation log in with an LDAP or OpenID Connect server; the password of its reader, or the secret of the client, is typed or read from standard input',
    examples: [
      "skerry identity create corp --org blue --server ldaps://ldap.corp.example --reader cn=reader,dc=corp,dc=example --base dc=corp,dc=example --group 'cloud-admins=organisation administrator' --group developers=author",
      'skerry identity create corp --server ldaps://dc1.corp.example --reader reader@corp.example --base dc=corp,dc=example --active-directory --ca corp.pem --group developers=author',
      'skerry identity create sso --org blue --issuer https://login.corp.example/realms/corp --client skerry --group developers=author',
    ],
    next: 'skerry identity test NAME',
    options: {
      ...orgOption,
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
      issuer: {
        type: 'string',
        value: 'URL',
        doc: 'of an OpenID Connect server, instead of --server, as its tokens name it',
      },
      client: { type: 'string', value: 'ID', doc: 'what --issuer calls this cloud' },
      scopes: {
        type: 'string',
        value: 'LIST',
        doc: "what --issuer is asked for (default: 'openid profile groups')",
      },
      'name-claim': {
        type: 'string',
        value: 'CLAIM',
        doc: 'the name of a user at --issuer (default: preferred_username)',
      },
      'groups-claim': {
        type: 'string',
        value: 'CLAIM',
        doc: 'the groups of a user at --issuer (default: groups)',
      },
      domain: {
        type: 'string',
        value: 'DOMAIN',
        doc: 'alice@DOMAIN of --issuer is alice here; other domains are refused',
      },
      'proof-days': {
        type: 'string',
        value: 'DAYS',
        doc: 'who has not logged in with --issuer for so long loses all access (default: 30)',
      },
      group: groupOption,
    },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const { group = [] } = options
      const [kind, login] = kindOf(options)
      const where = linkTo(
        await readOrgList(side, list, options.org),
        'add',
        'admin.identityProvider',
      )
      const ca = options.ca === undefined ? undefined : await readFile(options.ca, 'utf8')
      const secret = await context.readSecret(
        `${kind === 'ldap' ? 'password' : 'secret'} of ${login}: `,
      )
      const body = element(
        'IdentityProvider',
        { name, kind },
        ...(kind === 'ldap' ? ldapElements : openIdElements)(options, { ca, secret }),
        ...group.map(groupRole),
      )
      const made = serverIn(await side.cloud.act('POST', where, { body }))
      const next = made.redirectUrl === undefined ? '' : `; register there: ${made.redirectUrl}`
      context.print(
        json ? JSON.stringify(made, null, 2) : `identity server ${made.name} is created${next}`,
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
    options: { ...orgOption, group: groupOption },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const { group = [] } = options
      if (group.length === 0) throw new Failure('usage', 'give --group GROUP=ROLE')
      const document = await entryNamed(side, list, options.org, name)
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
    summary: 'ask an identity server; with LDAP, count the people and groups its reader finds',
    examples: ['skerry identity test corp --org blue'],
    next: 'skerry login PROFILE URL --user USER@ORG, as a person of the directory',
    options: orgOption,
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const document = await entryNamed(side, list, options.org, name)
      const tested = await side.cloud.act('POST', linkTo(document, 'test'))
      const answers = attribute(tested, 'answers') === 'true'
      const message = textsIn(tested, 'Message')[0] ?? ''
      if (!answers) throw new Failure('refused', message)
      const [people, groups] = ['people', 'groups'].map((each) => attribute(tested, each))
      const counts = {
        ...(people !== undefined && { people: Number(people) }),
        ...(groups !== undefined && { groups: Number(groups) }),
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
    options: orgOption,
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const { removed, message } = await removeEntry(side, list, options.org, name)
      context.print(json ? JSON.stringify({ removed }, null, 2) : message)
    },
  }),
]
