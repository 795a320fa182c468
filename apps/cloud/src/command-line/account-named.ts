import { Fault } from '@skerry/fault'
import type { UserId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { checkPassword } from '../auth/password-rules.ts'
import { roleNamed } from '../database/role-rights.ts'
import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { rightsOf, SYSTEM_ROLE } from '../domain/roles.ts'
import { orgNamed } from '../tenants/accounts.ts'
import { SYSTEM, type AccountRow } from '../tenants/tenants.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,127}$/

export function named(text = ''): string {
  if (NAME.test(text)) return text
  throw new Fault(
    'invalid',
    `invalid name ${text}: use letters, digits, blanks and _.-, starting with a letter or digit`,
  )
}

/** 'alice@eng' → alice, eng. */
export function readAccount(word = ''): { readonly user: string; readonly org: string } {
  const [, user, org] = /^([^@]+)@([^@]+)$/.exec(word) ?? []
  if (user !== undefined && org !== undefined) return { user, org }
  throw new Fault('invalid', `invalid user ${word}: expected USER@ORG`, {
    hint: 'skerry admin user list',
  })
}

export async function accountNamed(db: Kysely<CloudTables>, word?: string): Promise<AccountRow> {
  const { user, org } = readAccount(word)
  const found = await db
    .selectFrom('account')
    .selectAll()
    .where('org', '=', await orgNamed(db, org))
    .where('name', '=', user)
    .executeTakeFirst()
  if (found) return found
  throw new Fault('not-found', `user not found: ${user} in ${org}`, {
    hint: `skerry admin user list --org ${org}`,
  })
}

/** Parses a role and checks that the organisation may have it. */
export async function roleIn(db: Kysely<CloudTables>, org: string, text: string): Promise<string> {
  const { role } = await roleNamed(db, await orgNamed(db, org), text)
  if (role === SYSTEM_ROLE && org !== SYSTEM) {
    throw new Fault('forbidden', `the role ${text} exists only in ${SYSTEM}`, {
      hint: `in ${org}, use the role organisation administrator`,
    })
  }
  return role
}

/** Reads the password from standard input and checks it against the password rules. */
export async function passwordIn(input: string, user: string): Promise<string> {
  const password = input.replace(/\r?\n$/, '')
  await checkPassword(password, user)
  return password
}

/** A caller of these commands has full control of the cloud. Events name it as the operator, not as a user. */
export async function operator(db: Kysely<CloudTables>): Promise<Principal> {
  const org = await orgNamed(db, SYSTEM)
  const noAccount = '00000000-0000-0000-0000-000000000000' as UserId
  return {
    user: 'operator',
    account: noAccount,
    org,
    orgName: SYSTEM,
    ...rightsOf(SYSTEM_ROLE),
  }
}
