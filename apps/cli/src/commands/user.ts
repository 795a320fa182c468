import { inside, linkTo } from '@skerry/cloud-client'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { adminOrg, ownOrg } from '../admin-org.ts'
import { sideIn, type CloudSide } from '../cloud-side.ts'
import { command, type World } from '../command.ts'
import { Failure } from '../failure.ts'
import { renderTable, type Column } from '../table.ts'

interface User {
  readonly name: string
  readonly org: string
  readonly role: string
  readonly enabled: boolean
}

const columns: readonly Column<User>[] = [
  { head: 'NAME', cell: ({ name, org }) => `${name}@${org}` },
  { head: 'ROLE', cell: ({ role }) => role },
  {
    head: 'ENABLED',
    cell: ({ enabled }) => (enabled ? 'yes' : 'no'),
    colour: ({ enabled }) => (enabled ? undefined : 'yellow'),
  },
]

const userIn = (document: Element | undefined, org: string): User => ({
  ...{ name: attribute(document, 'name') ?? '', org },
  role: attribute(childrenByLocalName(document, 'Role')[0], 'name') ?? '',
  enabled: text(childrenByLocalName(document, 'IsEnabled')[0]) === 'true',
})

/** USER or USER@ORG; without an organisation one of one's own. */
function namesIn(side: CloudSide, word: string): { readonly user: string; readonly org: string } {
  const at = word.lastIndexOf('@')
  return at < 0
    ? { user: word, org: ownOrg(side) }
    : { user: word.slice(0, at), org: word.slice(at + 1) }
}

async function hrefOf(side: CloudSide, { user, org }: ReturnType<typeof namesIn>): Promise<string> {
  const found = inside(await adminOrg(side, org), 'Users', 'UserReference').find(
    (each) => attribute(each, 'name') === user,
  )
  const href = attribute(found, 'href')
  if (href !== undefined) return href
  throw new Failure('refused', `there is no user ${user}@${org}`, {
    hint: `skerry user list --org ${org} shows all there are`,
  })
}

const password = (word: string): Element => element('Password', {}, word)

function tell(world: World, json: boolean, user: User, done: string): void {
  const name = `${user.name}@${user.org}`
  world.print(json ? JSON.stringify(user, null, 2) : `${name} is ${done}: ${user.role}`)
}

export const user = [
  command({
    name: 'user list',
    asks: 'cloud',
    usage: '',
    summary: 'the users of an organisation with their roles, for its administrators',
    examples: ['skerry user list', 'skerry user list --org blue'],
    next: 'skerry user set USER --role ROLE gives one another role',
    options: { org: { type: 'string', value: 'ORG', doc: 'of this one; your own unless told' } },
    async run(world, { options, json }) {
      const side = sideIn(world)
      const org = options.org ?? ownOrg(side)
      const users: User[] = []
      for (const each of inside(await adminOrg(side, org), 'Users', 'UserReference')) {
        users.push(userIn(await side.cloud.get(attribute(each, 'href') ?? ''), org))
      }
      world.print(
        json ? JSON.stringify(users, null, 2) : renderTable(columns, users, world.colours),
      )
    },
  }),
  command({
    name: 'user add',
    asks: 'cloud',
    usage: 'USER',
    summary: 'a new user of an organisation; the password is typed, or read from standard input',
    examples: ['skerry user add rita --role author', 'skerry user add rita@blue --role user'],
    next: 'skerry login NAME URL --user USER@ORG, by that user',
    options: {
      role: { type: 'string', value: 'ROLE', doc: 'what the user may; author unless told' },
    },
    async run(world, { words: [word = ''], options, json }) {
      const side = sideIn(world)
      const { user: name, org } = namesIn(side, word)
      const where = linkTo(await adminOrg(side, org), 'add', 'admin.user')
      const role = element('Role', { name: options.role ?? 'author' })
      const secret = await world.readSecret(`password of ${name}@${org}: `)
      const body = element('User', { name }, role, password(secret))
      tell(world, json, userIn(await side.cloud.act('POST', where, { body }), org), 'made')
    },
  }),
  command({
    name: 'user set',
    asks: 'cloud',
    usage: 'USER',
    summary: 'give a user another role or password, or let one in or out; it counts at once',
    examples: [
      "skerry user set rita --role 'organisation administrator'",
      'skerry user set rita@blue --disable',
      'skerry user set rita --password',
    ],
    next: 'skerry user list shows what is so now',
    options: {
      role: { type: 'string', value: 'ROLE', doc: 'such as user, author, console only' },
      enable: { type: 'boolean', doc: 'let the user in again' },
      disable: { type: 'boolean', doc: 'let the user in no more; sessions and consoles end' },
      password: { type: 'boolean', doc: 'set a new one, typed or from standard input' },
    },
    async run(world, { words: [word = ''], options, json }) {
      const { role, enable, disable } = options
      if (enable === true && disable === true) {
        throw new Failure('usage', 'give --enable or --disable, not both')
      }
      if (Object.keys(options).length === 0) {
        throw new Failure('usage', 'nothing to change is given', { hint: 'skerry user set --help' })
      }
      const side = sideIn(world)
      const names = namesIn(side, word)
      const document = await side.cloud.get(await hrefOf(side, names))
      const secret =
        options.password === true ? await world.readSecret(`new password of ${word}: `) : undefined
      const body = element(
        'User',
        {},
        (enable ?? disable) !== undefined && element('IsEnabled', {}, String(enable === true)),
        role !== undefined && element('Role', { name: role }),
        secret !== undefined && password(secret),
      )
      const changed = await side.cloud.act('PUT', linkTo(document, 'edit'), { body })
      tell(world, json, userIn(changed, names.org), 'changed')
    },
  }),
]
