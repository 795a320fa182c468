import { inside, linkTo } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { adminOrg, ownOrg } from '../../cloud/admin-org.ts'
import { accountIn, userHref } from '../../cloud/admin-user.ts'
import { sessionIn } from '../../cloud/session-in.ts'
import { command, type CliContext } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'

interface User {
  readonly name: string
  readonly org: string
  readonly role: string
  readonly enabled: boolean
}

const columns: readonly TableColumn<User>[] = [
  { head: 'NAME', cell: ({ name, org }) => `${name}@${org}` },
  { head: 'ROLE', cell: ({ role }) => role },
  {
    head: 'ENABLED',
    cell: ({ enabled }) => (enabled ? 'yes' : 'no'),
    colour: ({ enabled }) => (enabled ? undefined : 'yellow'),
  },
]

const userIn = (document: Element | undefined, org: string): User => ({
  name: attribute(document, 'name') ?? '',
  org,
  role: attribute(childrenByLocalName(document, 'Role')[0], 'name') ?? '',
  enabled: text(childrenByLocalName(document, 'IsEnabled')[0]) === 'true',
})

const password = (word: string): Element => element('Password', {}, word)

function report(context: CliContext, json: boolean, user: User, done: string): void {
  const name = `${user.name}@${user.org}`
  context.print(json ? JSON.stringify(user, null, 2) : `${name} is ${done}: ${user.role}`)
}

export const user = [
  command({
    name: 'user list',
    asks: 'cloud',
    usage: '',
    summary: 'list the users of an organisation with their roles (its administrators only)',
    examples: ['skerry user list', 'skerry user list --org blue'],
    next: 'skerry user set USER --role ROLE changes a role',
    options: { org: { type: 'string', value: 'ORG', doc: 'organisation (default: yours)' } },
    async run(context, { options, json }) {
      const side = sessionIn(context)
      const org = options.org ?? ownOrg(side)
      const users: User[] = []
      for (const each of inside(await adminOrg(side, org), 'Users', 'UserReference')) {
        users.push(userIn(await side.cloud.get(attribute(each, 'href') ?? ''), org))
      }
      context.print(
        json ? JSON.stringify(users, null, 2) : renderTable(columns, users, context.colours),
      )
    },
  }),
  command({
    name: 'user create',
    asks: 'cloud',
    usage: 'USER',
    summary: 'create a user; the password is typed or read from standard input',
    examples: ['skerry user create rita --role author', 'skerry user create rita@blue --role user'],
    next: 'skerry login NAME URL --user USER@ORG, as that user',
    options: {
      role: { type: 'string', value: 'ROLE', doc: 'role (default: author)' },
    },
    async run(context, { words: [word = ''], options, json }) {
      const side = sessionIn(context)
      const { user: name, org } = accountIn(side, word)
      const where = linkTo(await adminOrg(side, org), 'add', 'admin.user')
      const role = element('Role', { name: options.role ?? 'author' })
      const secret = await context.readSecret(`password of ${name}@${org}: `)
      const body = element('User', { name }, role, password(secret))
      report(context, json, userIn(await side.cloud.act('POST', where, { body }), org), 'created')
    },
  }),
  command({
    name: 'user set',
    asks: 'cloud',
    usage: 'USER',
    summary:
      'change the role or password of a user, or enable or disable the user; effective at once',
    examples: [
      "skerry user set rita --role 'organisation administrator'",
      'skerry user set rita@blue --disable',
      'skerry user set rita --password',
      'skerry user set rita --remove-second-factors',
    ],
    next: 'skerry user list shows the result',
    options: {
      role: { type: 'string', value: 'ROLE', doc: 'new role, e.g. user, author or "console only"' },
      enable: { type: 'boolean', doc: 'let the user log in again' },
      disable: { type: 'boolean', doc: 'lock the user out; sessions and consoles are closed' },
      password: { type: 'boolean', doc: 'set a new password, typed or read from standard input' },
      'remove-second-factors': {
        type: 'boolean',
        doc: 'remove all second factors of a user who lost them; the password alone logs in then',
      },
    },
    async run(context, { words: [word = ''], options, json }) {
      const { role, enable, disable, 'remove-second-factors': removes = false } = options
      if (enable === true && disable === true) {
        throw new Failure('usage', 'give --enable or --disable, not both')
      }
      if (Object.keys(options).length === 0) {
        throw new Failure('usage', 'no change given', { hint: 'skerry user set --help' })
      }
      const side = sessionIn(context)
      const names = accountIn(side, word)
      const document = await side.cloud.get(await userHref(side, names))
      const secret =
        options.password === true
          ? await context.readSecret(`new password of ${word}: `)
          : undefined
      if (removes) await side.cloud.act('POST', linkTo(document, 'removeSecondFactors'))
      if (removes && Object.keys(options).length === 1) {
        return report(context, json, userIn(document, names.org), 'changed')
      }
      const body = element(
        'User',
        {},
        (enable ?? disable) !== undefined && element('IsEnabled', {}, String(enable === true)),
        role !== undefined && element('Role', { name: role }),
        secret !== undefined && password(secret),
      )
      const changed = await side.cloud.act('PUT', linkTo(document, 'edit'), { body })
      report(context, json, userIn(changed, names.org), 'changed')
    },
  }),
]
