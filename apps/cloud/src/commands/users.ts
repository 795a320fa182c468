import { Fault } from '@skerry/fault'
import type { Kysely } from 'kysely'

import { hashPassword } from '../auth/password.ts'
import { ACCESS_TOKEN, hashToken } from '../auth/sessions.ts'
import {
  accountNamed,
  named,
  operator,
  passwordIn,
  readAccount,
  roleIn,
} from '../command-line/account-named.ts'
import {
  maybe,
  needed,
  printRows,
  type CommandInput,
  type AdminCommand,
} from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import type { CloudTables } from '../database/tables.ts'
import { roles } from '../domain/roles.ts'
import { addAccessToken, dropAccessToken } from '../tenants/access-tokens.ts'
import { addAccount, orgNamed } from '../tenants/accounts.ts'
import { listAccounts, removeAccount, requireAnother, tokensOf } from '../tenants/operator-lists.ts'
import { changeAccount, type AccountChange, type AccountRow } from '../tenants/tenants.ts'

const ROLES = Object.keys(roles).join(', ')

const add: AdminCommand = {
  name: 'user add',
  words: ['USER@ORG'],
  options: { role: 'ROLE' },
  summary: `create a user with the password from standard input; roles: ${ROLES} (the last in System only)`,
  run: ({ print, readInput, salt }, requested) =>
    withStore(requested, async (db) => {
      const { user, org } = readAccount(requested.words[0])
      const role = roleIn(org, needed(requested, 'role'))
      await orgNamed(db, org)
      const hash = await hashPassword(await passwordIn(await readInput(), user), salt())
      await addAccount(db, { org, name: named(user), role, password: hash })
      const said = { user, org, role }
      print(
        requested.options['json'] === true ? JSON.stringify(said) : `user ${user}@${org}, ${role}`,
      )
    }),
}

const list: AdminCommand = {
  name: 'user list',
  words: [],
  options: { org: 'ORG' },
  summary: 'list users, of all organisations or of one: role, enabled, sessions, tokens',
  run: (context, requested) =>
    withStore(requested, async (db) => {
      const org = maybe(requested, 'org')
      const rows = await listAccounts(db, org === undefined ? undefined : await orgNamed(db, org))
      const heads = ['user', 'org', 'role', 'enabled', 'sessions', 'tokens']
      printRows(
        context,
        requested,
        rows.map((row) => ({ ...row })),
        heads,
      )
    }),
}

/** Changes a user and returns the changed row. */
async function change(
  db: Kysely<CloudTables>,
  row: AccountRow,
  how: AccountChange,
): Promise<AccountRow> {
  const by = await operator(db)
  return db.transaction().execute(async (tx) => {
    const lowers = how.enabled === false || (how.role !== undefined && how.role !== row.role)
    if (lowers) await requireAnother(tx, row)
    return changeAccount(tx, by, row, how)
  })
}

const say = (
  { print }: Parameters<AdminCommand['run']>[0],
  { words, options }: CommandInput,
  { role, disabled }: AccountRow,
  text: string,
): void => {
  const said = { ...readAccount(words[0]), role, enabled: !disabled }
  print(options['json'] === true ? JSON.stringify(said) : `user ${words[0]} ${text}`)
}

const role: AdminCommand = {
  name: 'user role',
  words: ['USER@ORG', 'ROLE'],
  options: {},
  summary: `change the role of a user, effective at once; roles: ${ROLES} (the last in System only)`,
  run: (context, requested) =>
    withStore(requested, async (db) => {
      const row = await accountNamed(db, requested.words[0])
      const wanted = roleIn(readAccount(requested.words[0]).org, requested.words[1] ?? '')
      say(context, requested, await change(db, row, { role: wanted }), `now has the role ${wanted}`)
    }),
}

const password: AdminCommand = {
  name: 'user password',
  words: ['USER@ORG'],
  options: {},
  summary: 'set the password of a user from standard input and end all their sessions',
  run: (context, requested) =>
    withStore(requested, async (db) => {
      const row = await accountNamed(db, requested.words[0])
      const hash = await hashPassword(
        await passwordIn(await context.readInput(), row.name),
        context.salt(),
      )
      const text = 'has a new password; their sessions are ended'
      say(context, requested, await change(db, row, { password: hash }), text)
    }),
}

const enabling = (enabled: boolean): AdminCommand => ({
  name: enabled ? 'user enable' : 'user disable',
  words: ['USER@ORG'],
  options: {},
  summary: enabled ? 'let a user log in again' : 'log out a user and reject their logins',
  run: (context, requested) =>
    withStore(requested, async (db) => {
      const row = await accountNamed(db, requested.words[0])
      const text = enabled ? 'may log in' : 'is logged out and may not log in'
      say(context, requested, await change(db, row, { enabled }), text)
    }),
})

const remove: AdminCommand = {
  name: 'user remove',
  words: ['USER@ORG'],
  options: {},
  summary: 'remove a user with all sessions and tokens; their VMs and other resources stay',
  run: (context, requested) =>
    withStore(requested, async (db) => {
      const row = await accountNamed(db, requested.words[0])
      const { user } = await operator(db)
      await db.transaction().execute((tx) => removeAccount(tx, user, row))
      say(context, requested, { ...row, disabled: true }, 'is removed')
    }),
}

const asUser = (row: AccountRow, org: string) => ({
  user: row.name,
  account: row.id,
  org: row.org,
  orgName: org,
  role: row.role,
})

const tokenList: AdminCommand = {
  name: 'token list',
  words: ['USER@ORG'],
  options: {},
  summary: 'list the access tokens of a user: creation time and last use, never the token itself',
  run: (context, requested) =>
    withStore(requested, async (db) => {
      const row = await accountNamed(db, requested.words[0])
      const rows = (await tokensOf(db, row)).map(({ id, name, made_at, used_at }) => ({
        name,
        made: made_at,
        used: used_at,
        id,
      }))
      printRows(context, requested, rows, ['name', 'made', 'used'])
    }),
}

const tokenAdd: AdminCommand = {
  name: 'token add',
  words: ['USER@ORG', 'NAME'],
  options: {},
  summary: 'create an access token for a user and print it; it is shown only once',
  run: ({ print, secret }, requested) =>
    withStore(requested, async (db) => {
      const row = await accountNamed(db, requested.words[0])
      const name = named(requested.words[1])
      const token = `${ACCESS_TOKEN}${secret()}`
      const principal = asUser(row, readAccount(requested.words[0]).org)
      await db
        .transaction()
        .execute((tx) => addAccessToken(tx, principal, { name, hash: hashToken(token) }))
      print(requested.options['json'] === true ? JSON.stringify({ name, token }) : token)
    }),
}

const tokenRevoke: AdminCommand = {
  name: 'token revoke',
  words: ['USER@ORG', 'NAME'],
  options: {},
  summary: 'revoke an access token at once',
  run: ({ print }, requested) =>
    withStore(requested, async (db) => {
      const [word = '', name = ''] = requested.words
      const row = await accountNamed(db, word)
      const found = (await tokensOf(db, row)).find((each) => each.name === name)
      if (!found) {
        throw new Fault('not-found', `${word} has no token ${name}`, {
          hint: `skerry cloud token list ${word}`,
        })
      }
      const principal = asUser(row, readAccount(word).org)
      await db.transaction().execute((tx) => dropAccessToken(tx, principal, found))
      const said = { user: word, token: name }
      print(
        requested.options['json'] === true
          ? JSON.stringify(said)
          : `token ${name} of ${word} is revoked`,
      )
    }),
}

export const users: readonly AdminCommand[] = [
  add,
  list,
  role,
  password,
  enabling(true),
  enabling(false),
  remove,
  tokenList,
  tokenAdd,
  tokenRevoke,
]
