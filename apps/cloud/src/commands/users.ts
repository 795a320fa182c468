import { tenantAdmin, type Args } from '@skerry/command-line'
import { Fault } from '@skerry/fault'
import type { Kysely } from 'kysely'

import { ACCESS_TOKEN, hashToken } from '../auth/access-token.ts'
import { hashPassword } from '../auth/password.ts'
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
  runs,
  type AdminCommand,
  type CommandContext,
} from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import { readRights } from '../database/role-rights.ts'
import type { CloudTables } from '../database/tables.ts'
import { daysIn } from '../params/access-token.ts'
import { removeSecondFactors } from '../second-factors/second-factors.ts'
import { addAccessToken, dropAccessToken } from '../tenants/access-tokens.ts'
import { addAccount, orgNamed } from '../tenants/accounts.ts'
import { listAccounts, removeAccount, requireAnother, tokensOf } from '../tenants/operator-lists.ts'
import { changeAccount, type AccountChange, type AccountRow } from '../tenants/tenants.ts'

const add = runs(tenantAdmin.createUser, ({ print, readInput, salt }, requested) =>
  withStore(requested, async (db) => {
    const { user, org } = readAccount(requested.words[0])
    const role = await roleIn(db, org, needed(requested, 'role'))
    const hash = await hashPassword(await passwordIn(await readInput(), user), salt())
    await addAccount(db, { org, name: named(user), role, password: hash })
    const said = { user, org, role }
    print(requested.json ? JSON.stringify(said) : `user ${user}@${org}, ${role}`)
  }),
)

const list = runs(tenantAdmin.listUsers, (context, requested) =>
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
)

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

const printAccount = (
  { print }: CommandContext,
  { words, json }: Args,
  { role, disabled }: AccountRow,
  text: string,
): void => {
  const said = { ...readAccount(words[0]), role, enabled: !disabled }
  print(json ? JSON.stringify(said) : `user ${words[0]} ${text}`)
}

const set = runs(tenantAdmin.setUser, (context, requested) =>
  withStore(requested, async (db) => {
    const [word] = requested.words
    const { role, enable, disable, password } = requested.options
    const remove = requested.options['remove-second-factors']
    if (enable === true && disable === true) {
      throw new Fault('invalid', 'give --enable or --disable, not both')
    }
    if ([role, enable, disable, password, remove].every((each) => each === undefined)) {
      throw new Fault('invalid', 'no change given', { hint: 'skerry admin user set --help' })
    }
    const row = await accountNamed(db, word)
    const changed = await change(db, row, {
      ...(role !== undefined && { role: await roleIn(db, readAccount(word).org, role) }),
      ...((enable ?? disable) !== undefined && { enabled: enable === true }),
      ...(password === true && {
        password: await hashPassword(
          await passwordIn(await context.readInput(), row.name),
          context.salt(),
        ),
      }),
    })
    if (remove === true) {
      const by = await operator(db)
      await db.transaction().execute((tx) => removeSecondFactors(tx, by, row))
    }
    const done = [
      role !== undefined && `now has the role ${role}`,
      enable === true && 'may log in',
      disable === true && 'is logged out and may not log in',
      password === true && 'has a new password; their sessions are ended',
      remove === true && 'has no second factor any more',
    ].filter((each) => each !== false)
    printAccount(context, requested, changed, done.join(', '))
  }),
)

const remove = runs(tenantAdmin.removeUser, (context, requested) =>
  withStore(requested, async (db) => {
    const row = await accountNamed(db, requested.words[0])
    const { user } = await operator(db)
    await db.transaction().execute((tx) => removeAccount(tx, user, row))
    printAccount(context, requested, { ...row, disabled: true }, 'is removed')
  }),
)

const asUser = async (db: Kysely<CloudTables>, row: AccountRow, org: string) => ({
  user: row.name,
  account: row.id,
  org: row.org,
  orgName: org,
  ...(await readRights(db, row.org, row.role)),
})

const tokenList = runs(tenantAdmin.listTokens, (context, requested) =>
  withStore(requested, async (db) => {
    const row = await accountNamed(db, requested.words[0])
    const rows = (await tokensOf(db, row)).map(({ id, name, made_at, used_at, expires_at }) => ({
      name,
      made: made_at,
      used: used_at,
      expires: expires_at,
      id,
    }))
    printRows(context, requested, rows, ['name', 'made', 'used', 'expires'])
  }),
)

const tokenAdd = runs(tenantAdmin.createToken, ({ print, secret }, requested) =>
  withStore(requested, async (db) => {
    const row = await accountNamed(db, requested.words[0])
    const name = named(requested.words[1])
    const given = maybe(requested, 'days')
    const days = given === undefined ? undefined : daysIn(given, '--days')
    const token = `${ACCESS_TOKEN}${secret()}`
    const principal = await asUser(db, row, readAccount(requested.words[0]).org)
    await db
      .transaction()
      .execute((tx) => addAccessToken(tx, principal, { name, days, hash: hashToken(token) }))
    print(requested.json ? JSON.stringify({ name, token }) : token)
  }),
)

const tokenRevoke = runs(tenantAdmin.revokeToken, ({ print }, requested) =>
  withStore(requested, async (db) => {
    const [word = '', name = ''] = requested.words
    const row = await accountNamed(db, word)
    const found = (await tokensOf(db, row)).find((each) => each.name === name)
    if (!found) {
      throw new Fault('not-found', `${word} has no token ${name}`, {
        hint: `skerry admin token list ${word}`,
      })
    }
    const principal = await asUser(db, row, readAccount(word).org)
    await db.transaction().execute((tx) => dropAccessToken(tx, principal, found))
    const said = { user: word, token: name }
    print(requested.json ? JSON.stringify(said) : `token ${name} of ${word} is revoked`)
  }),
)

export const users: readonly AdminCommand[] = [
  add,
  list,
  set,
  remove,
  tokenList,
  tokenAdd,
  tokenRevoke,
]
