import { Fault } from '@skerry/fault'
import type { UserId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { Who } from '../identity/authorize.ts'
import { passwordLength } from '../identity/password.ts'
import { roles, type Role } from '../identity/roles.ts'
import { orgNamed } from '../store/accounts.ts'
import type { Database } from '../store/database.ts'
import { SYSTEM, type AccountRow } from '../store/tenants.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,127}$/

export function named(text = ''): string {
  if (NAME.test(text)) return text
  throw new Fault('invalid', `${text} is no name: letters, digits, blanks and _.- after the first`)
}

/** 'alice@eng' → alice, eng. */
export function readAccount(word = ''): { readonly user: string; readonly org: string } {
  const [, user, org] = /^([^@]+)@([^@]+)$/.exec(word) ?? []
  if (user !== undefined && org !== undefined) return { user, org }
  throw new Fault('invalid', `a user is written as USER@ORG, not ${word}`, {
    hint: 'skerry cloud user list',
  })
}

export async function accountNamed(db: Kysely<Database>, word?: string): Promise<AccountRow> {
  const { user, org } = readAccount(word)
  const found = await db
    .selectFrom('account')
    .selectAll()
    .where('org', '=', await orgNamed(db, org))
    .where('name', '=', user)
    .executeTakeFirst()
  if (found) return found
  throw new Fault('not-found', `there is no user ${user} in ${org}`, {
    hint: `skerry cloud user list --org ${org}`,
  })
}

/** A role that there is, in an organisation that may have it. */
export function roleIn(org: string, text: string): Role {
  if (!Object.hasOwn(roles, text)) {
    throw new Fault('invalid', `a role is one of: ${Object.keys(roles).join(', ')}`)
  }
  if (text === 'system administrator' && org !== SYSTEM) {
    throw new Fault('forbidden', `the role ${text} is given in ${SYSTEM} only`, {
      hint: `of ${org} somebody may be organisation administrator`,
    })
  }
  return text as Role
}

export function passwordIn(input: string): string {
  const password = input.replace(/\r?\n$/, '')
  const { least, most } = passwordLength
  if (password.length >= least && password.length <= most) return password
  throw new Fault(
    'invalid',
    `the password on standard input must have ${least} to ${most} characters`,
  )
}

/** Whoever may type here rules the cloud: in the events it is the operator, not a user. */
export async function operator(db: Kysely<Database>): Promise<Who> {
  const org = await orgNamed(db, SYSTEM)
  const nobody = '00000000-0000-0000-0000-000000000000' as UserId
  return { user: 'operator', account: nobody, org, orgName: SYSTEM, role: 'system administrator' }
}
