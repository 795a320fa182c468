import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { SYSTEM_ROLE } from '../domain/roles.ts'
import { addToCatalog } from './catalogs.ts'

export interface NewAccount {
  readonly org: string
  readonly name: string
  readonly role: string
  /** The hash from auth/password.ts. */
  readonly password: string
}

/** Adds an organisation with one vDC. */
export async function addOrg(db: Kysely<CloudTables>, name: string, vdc: string): Promise<OrgId> {
  return orConflict(`organisation ${name} already exists`, () =>
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

export async function orgNamed(db: Kysely<CloudTables>, name: string): Promise<OrgId> {
  const org = await db.selectFrom('org').select('id').where('name', '=', name).executeTakeFirst()
  if (org) return org.id
  throw new Fault('not-found', `organisation not found: ${name}`, {
    hint: `skerry admin org create ${name}`,
  })
}

export async function addAccount(
  db: Kysely<CloudTables>,
  { org: orgName, name, role, password }: NewAccount,
): Promise<void> {
  const org = await orgNamed(db, orgName)
  await orConflict(`user ${name} already exists in ${orgName}`, () =>
    db.insertInto('account').values({ org, name, role, password }).execute(),
  )
}

/** Whether this cloud already exists: its first administrator is created last. */
export async function hasAdministrator(db: Kysely<CloudTables>): Promise<boolean> {
  const found = await db
    .selectFrom('account')
    .select('id')
    .where('role', '=', SYSTEM_ROLE)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

export async function addAdministrator(
  db: Kysely<CloudTables>,
  { org, name, password }: Omit<NewAccount, 'role'>,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('org')
      .values({ name: org })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute()
    const id = await orgNamed(tx, org)
    const role = SYSTEM_ROLE
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

/** The image is already in the image store; another template may use the same one. */
export async function addTemplate(db: Kysely<CloudTables>, template: NewTemplate): Promise<string> {
  const { image, name, cpus, memoryMiB, diskMiB } = template
  const { digest, bytes, virtualMiB } = image
  const org = await orgNamed(db, template.org)
  return orConflict(`template ${name} already exists in ${template.org}`, () =>
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
