import { linkTo } from '@skerry/cloud-client'
import { renderTable, type TableColumn } from '@skerry/command-line'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import { sessionIn } from '../../cloud/session-in.ts'
import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { entryNamed, orgOption, readOrgList, removeEntry, type OrgList } from './org-list.ts'

const list: OrgList = {
  called: 'role',
  type: 'admin.roles',
  element: 'OrgRole',
  listed: 'skerry role list',
}

interface Role {
  readonly name: string
  readonly rights: readonly string[]
  /** How many have it. */
  readonly users: number
  readonly groups: number
}

const columns: readonly TableColumn<Role>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'USERS', cell: ({ users }) => String(users) },
  { head: 'GROUPS', cell: ({ groups }) => String(groups) },
  { head: 'RIGHTS', cell: ({ rights }) => rights.join(' ') },
]

const textsIn = (document: Element | undefined, name: string): readonly string[] =>
  childrenByLocalName(document, name).map((each) => text(each) ?? '')

const roleIn = (document: Element | undefined): Role => ({
  name: attribute(document, 'name') ?? '',
  rights: textsIn(document, 'Right'),
  users: Number(textsIn(document, 'Users')[0]),
  groups: Number(textsIn(document, 'Groups')[0]),
})

const rightsOption = {
  type: 'string',
  value: 'RIGHT,...',
  doc: 'org:read, vm:read, vm:power, vm:console, vm:edit, network:read, network:edit or org:admin; no others than yours',
} as const

function rightsOf(option: string | undefined): readonly Element[] {
  const rights = (option ?? '').split(',').filter((right) => right !== '')
  if (rights.length === 0) throw new Failure('usage', 'give --rights RIGHT,...')
  return rights.map((right) => element('Right', {}, right))
}

export const role = [
  command({
    name: 'role list',
    asks: 'cloud',
    usage: '',
    summary: 'list the roles that an organisation has of its own, and how many have them',
    examples: ['skerry role list', 'skerry role list --org blue'],
    next: 'skerry user set USER --role ROLE gives one to a user',
    options: orgOption,
    async run(context, { options, json }) {
      const found = await readOrgList(sessionIn(context), list, options.org)
      const roles = childrenByLocalName(found, list.element).map(roleIn)
      context.print(
        json ? JSON.stringify(roles, null, 2) : renderTable(columns, roles, context.colours),
      )
    },
  }),
  command({
    name: 'role create',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'create a role of an organisation: a set of rights',
    examples: [
      'skerry role create operator --rights org:read,vm:read,vm:power',
      "skerry role create 'network engineer' --rights org:read,network:read,network:edit",
    ],
    next: 'skerry user set USER --role NAME',
    options: { ...orgOption, rights: rightsOption },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const rights = rightsOf(options.rights)
      const where = linkTo(await readOrgList(side, list, options.org), 'add', 'admin.role')
      const body = element(list.element, { name }, ...rights)
      const made = roleIn(await side.cloud.act('POST', where, { body }))
      context.print(
        json ? JSON.stringify(made, null, 2) : `role ${name} is created: ${made.rights.join(' ')}`,
      )
    },
  }),
  command({
    name: 'role set',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'replace the rights of a role; effective at once for all who have it',
    examples: ['skerry role set operator --rights org:read,vm:read,vm:power,vm:console'],
    next: 'skerry role list shows the result',
    options: { ...orgOption, rights: rightsOption },
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const rights = rightsOf(options.rights)
      const document = await entryNamed(side, list, options.org, name)
      const where = linkTo(document, 'edit', 'admin.role')
      const body = element(list.element, {}, ...rights)
      const changed = roleIn(await side.cloud.act('PUT', where, { body }))
      context.print(
        json
          ? JSON.stringify(changed, null, 2)
          : `role ${name} is changed: ${changed.rights.join(' ')}`,
      )
    },
  }),
  command({
    name: 'role rm',
    asks: 'cloud',
    usage: 'NAME',
    summary: 'remove a role that no user and no group has',
    examples: ['skerry role rm operator'],
    next: 'skerry role list lists the others',
    options: orgOption,
    async run(context, { words: [name = ''], options, json }) {
      const side = sessionIn(context)
      const { removed, message } = await removeEntry(side, list, options.org, name)
      context.print(json ? JSON.stringify({ removed }, null, 2) : message)
    },
  }),
]
