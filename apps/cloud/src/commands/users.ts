import { Fault } from '@skerry/fault'
import type { Kysely } from 'kysely'

import { maybe, needed, printRows, type Asked, type Command } from '../command.ts'
import { hashPassword } from '../identity/password.ts'
import { roles } from '../identity/roles.ts'
import { ACCESS_TOKEN, hashToken } from '../identity/sessions.ts'
import { addAccessToken, dropAccessToken } from '../store/access-tokens.ts'
import { addAccount, orgNamed } from '../store/accounts.ts'
import type { Database } from '../store/database.ts'
import { listAccounts, removeAccount, requireAnother, tokensOf } from '../store/rule.ts'
import { changeAccount, type AccountChange, type AccountRow } from '../store/tenants.ts'
import { accountNamed, named, operator, passwordIn, readAccount, roleIn } from './account-named.ts'
import { withStore } from './with-store.ts'

const ROLES = Object.keys(roles).join(', ')

const add: Command = {
  name: 'user add',
  words: ['USER@ORG'],
  options: { role: 'ROLE' },
  summary: `makes a user, with the password on standard input; roles: ${ROLES}, the last in System only`,
  run: ({ print, readInput, salt }, asked) =>
    withStore(asked, async (db) => {
      const { user, org } = readAccount(asked.words[0])
      const role = roleIn(org, needed(asked, 'role'))
      await orgNamed(db, org)
      const hash = await hashPassword(passwordIn(await readInput()), salt())
      await addAccount(db, { org, name: named(user), role, password: hash })
      const said = { user, org, role }
      print(asked.options['json'] === true ? JSON.stringify(said) : `user ${user}@${org}, ${role}`)
    }),
}

const list: Command = {
  name: 'user list',
  words: [],
  options: { org: 'ORG' },
  summary:
    'all users, or those of an organisation: role, whether they are let in, sessions, tokens',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const org = maybe(asked, 'org')
      const rows = await listAccounts(db, org === undefined ? undefined : await orgNamed(db, org))
      const heads = ['user', 'org', 'role', 'enabled', 'sessions', 'tokens']
      printRows(
        world,
        asked,
        rows.map((row) => ({ ...row })),
        heads,
      )
    }),
}

/** Changes a user and says what is so now. */
async function change(
  db: Kysely<Database>,
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
  { print }: Parameters<Command['run']>[0],
  { words, options }: Asked,
  { role, disabled }: AccountRow,
  text: string,
): void => {
  const said = { ...readAccount(words[0]), role, enabled: !disabled }
  print(options['json'] === true ? JSON.stringify(said) : `user ${words[0]} ${text}`)
}

const role: Command = {
  name: 'user role',
  words: ['USER@ORG', 'ROLE'],
  options: {},
  summary: `gives a user another role, which counts at once; roles: ${ROLES}, the last in System only`,
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const row = await accountNamed(db, asked.words[0])
      const wanted = roleIn(readAccount(asked.words[0]).org, asked.words[1] ?? '')
      say(world, asked, await change(db, row, { role: wanted }), `is ${wanted} from now on`)
    }),
}

const password: Command = {
  name: 'user password',
  words: ['USER@ORG'],
  options: {},
  summary: 'gives a user another password, from standard input, and ends all their sessions',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const row = await accountNamed(db, asked.words[0])
      const hash = await hashPassword(passwordIn(await world.readInput()), world.salt())
      const text = 'has another password; their sessions are over'
      say(world, asked, await change(db, row, { password: hash }), text)
    }),
}

const enabling = (enabled: boolean): Command => ({
  name: enabled ? 'user enable' : 'user disable',
  words: ['USER@ORG'],
  options: {},
  summary: enabled ? 'lets a user in again' : 'lets a user in no more, from now on',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const row = await accountNamed(db, asked.words[0])
      const text = enabled ? 'may log in' : 'is out, and may not log in'
      say(world, asked, await change(db, row, { enabled }), text)
    }),
})

const remove: Command = {
  name: 'user remove',
  words: ['USER@ORG'],
  options: {},
  summary: 'removes a user with all sessions and tokens; what they made stays',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const row = await accountNamed(db, asked.words[0])
      const { user } = await operator(db)
      await db.transaction().execute((tx) => removeAccount(tx, user, row))
      say(world, asked, { ...row, disabled: true }, 'is no more')
    }),
}

const asUser = (row: AccountRow, org: string) => ({
  ...{ user: row.name, account: row.id, org: row.org, orgName: org, role: row.role },
})

const tokenList: Command = {
  name: 'token list',
  words: ['USER@ORG'],
  options: {},
  summary: 'the tokens for scripts of a user: when each was made and last used; never the token',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const row = await accountNamed(db, asked.words[0])
      const rows = (await tokensOf(db, row)).map(({ id, name, made_at, used_at }) => ({
        ...{ name, made: made_at, used: used_at, id },
      }))
      printRows(world, asked, rows, ['name', 'made', 'used'])
    }),
}

const tokenAdd: Command = {
  name: 'token add',
  words: ['USER@ORG', 'NAME'],
  options: {},
  summary: 'makes a token for scripts of a user, and prints it: it is told this once',
  run: ({ print, secret }, asked) =>
    withStore(asked, async (db) => {
      const row = await accountNamed(db, asked.words[0])
      const name = named(asked.words[1])
      const token = `${ACCESS_TOKEN}${secret()}`
      const who = asUser(row, readAccount(asked.words[0]).org)
      await db
        .transaction()
        .execute((tx) => addAccessToken(tx, who, { name, hash: hashToken(token) }))
      print(asked.options['json'] === true ? JSON.stringify({ name, token }) : token)
    }),
}

const tokenRevoke: Command = {
  name: 'token revoke',
  words: ['USER@ORG', 'NAME'],
  options: {},
  summary: 'makes a token for scripts worth nothing, at once',
  run: ({ print }, asked) =>
    withStore(asked, async (db) => {
      const [word = '', name = ''] = asked.words
      const row = await accountNamed(db, word)
      const found = (await tokensOf(db, row)).find((each) => each.name === name)
      if (!found) {
        throw new Fault('not-found', `${word} has no token ${name}`, {
          hint: `skerry cloud token list ${word}`,
        })
      }
      const who = asUser(row, readAccount(word).org)
      await db.transaction().execute((tx) => dropAccessToken(tx, who, found))
      const said = { user: word, token: name }
      print(
        asked.options['json'] === true
          ? JSON.stringify(said)
          : `token ${name} of ${word} is no more`,
      )
    }),
}

export const users: readonly Command[] = [
  ...[add, list, role, password, enabling(true), enabling(false), remove],
  ...[tokenList, tokenAdd, tokenRevoke],
]
