import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { Role } from '../identity/roles.ts'
import { addToCatalog } from './catalogs.ts'
import type { Database } from './database.ts'

export interface NewAccount {
  readonly org: string
  readonly name: string
  readonly role: Role
  /** As identity/password.ts makes it. */
  readonly password: string
}

/** An organisation with one place for its VMs. */
export async function addOrg(db: Kysely<Database>, name: string, vdc: string): Promise<OrgId> {
  return orConflict(`there is an organisation ${name} already`, () =>
    db.transaction().execute(async (tx) => {
      const org = await tx
        .insertInto('org')
        .values({ name })
        .returning('id')
        .executeTakeFirstOrThrow()
      await tx.insertInto('vdc').values({ org: org.id, name: vdc }).execute()
      return org.id
    }),
  )
}

export async function orgNamed(db: Kysely<Database>, name: string): Promise<OrgId> {
  const org = await db.selectFrom('org').select('id').where('name', '=', name).executeTakeFirst()
  if (org) return org.id
  throw new Fault('not-found', `there is no organisation ${name}`, {
    hint: `skerry cloud org add ${name}`,
  })
}

export async function addAccount(
  db: Kysely<Database>,
  { org: orgName, name, role, password }: NewAccount,
): Promise<void> {
  const org = await orgNamed(db, orgName)
  await orConflict(`there is a user ${name} in ${orgName} already`, () =>
    db.insertInto('account').values({ org, name, role, password }).execute(),
  )
}

/** Whether this cloud was made before: its first administrator is what is made last. */
export async function hasAdministrator(db: Kysely<Database>): Promise<boolean> {
  const found = await db
    .selectFrom('account')
    .select('id')
    .where('role', '=', 'system administrator')
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export async function addAdministrator(
  db: Kysely<Database>,
  { org, name, password }: Omit<NewAccount, 'role'>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('org')
      .values({ name: org })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
    const id = await orgNamed(tx, org)
    const role: Role = 'system administrator'
    await tx.insertInto('account').values({ org: id, name, role, password }).execute()
  })
}

export interface NewTemplate {
  readonly org: string
  readonly name: string
  readonly image: { readonly digest: string; readonly bytes: number; readonly virtualMiB: number }
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
}

/** The bytes are in the store by now. The same ones may be there for another template. */
export async function addTemplate(db: Kysely<Database>, template: NewTemplate): Promise<string> {
  const { image, name, cpus, memoryMiB, diskMiB } = template
  const { digest, bytes, virtualMiB } = image
  const org = await orgNamed(db, template.org)
  return orConflict(`there is a template ${name} in ${template.org} already`, () =>
    db.transaction().execute(async (tx) => {
      await tx
        .insertInto('image')
        .values({ digest, bytes: String(bytes), virtual_mib: virtualMiB })
        .onConflict((conflict) => conflict.column('digest').doNothing())
        .execute()
      const sizes = { cpus, memory_mib: memoryMiB, disk_mib: diskMiB }
      const made = await tx
        .insertInto('template')
        .values({ org, name, image: digest, ...sizes })
        .returning('id')
        .executeTakeFirstOrThrow()
      await addToCatalog(tx, { org, name, template: made.id })
      return made.id
    }),
  )
}

export async function orConflict<T>(message: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (brokenConstraint(error) === undefined) throw error
    throw new Fault('conflict', message, { cause: error })
  }
}
