// A workflow server's database of a test's own: migrated, with two organisations that the cloud would know.
import { randomBytes, randomUUID } from 'node:crypto'

import { freshDatabase, type Postgres } from '@skerry/lab'
import { inOrg, openDatabase, openTenants } from '@skerry/postgres'
import type { OrgId, UserId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { prepareTables } from '../src/engines.ts'
import { seesAll, type Role, type Who } from '../src/identity/rights.ts'
import { actingAs } from '../src/store/acting-as.ts'
import { ensureCategory } from '../src/store/categories.ts'
import type { Database, Tx, Values } from '../src/store/database.ts'
import { addExecution, keepGrant } from '../src/store/executions.ts'
import { digestOf } from '../src/store/load-run.ts'
import { saveVersion, type NewVersion } from '../src/store/workflows.ts'

export interface WorkflowDatabase extends AsyncDisposable {
  readonly db: Kysely<Database>
  /** The owner's way in. */
  readonly url: string
  as<T>(who: Who, work: (tx: Tx) => Promise<T>): Promise<T>
}

export async function openWorkflowDatabase(postgres: Postgres): Promise<WorkflowDatabase> {
  const { url, [Symbol.asyncDispose]: drop } = await freshDatabase(postgres, prepareTables)
  const options = { applicationName: 'test', size: 8 }
  const db = openDatabase<Database>({ ...options, url: actingAs(url, 'skerry_workflow_system') })
  const tenants = openTenants<Database>({
    ...options,
    url: actingAs(url, 'skerry_workflow_tenant'),
  })
  return {
    ...{ db, url },
    as: (who, work) =>
      seesAll(who) ? db.transaction().execute(work) : inOrg(tenants, who.org, work),
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await tenants.destroy()
      await drop()
    },
  }
}

export const orgs = {
  eng: '00000000-0000-4000-8000-0000000000e0' as OrgId,
  ops: '00000000-0000-4000-8000-0000000000a0' as OrgId,
  System: '00000000-0000-4000-8000-0000000000ff' as OrgId,
}

/** Somebody of this role, whom no other test knows. */
export const someone = (
  orgName: keyof typeof orgs = 'eng',
  role: Role = role0(orgName),
  user = `${orgName}-${randomBytes(3).toString('hex')}`,
): Who => ({ account: randomUUID() as UserId, user, org: orgs[orgName], orgName, role })

const role0 = (orgName: keyof typeof orgs): Role =>
  orgName === 'System' ? 'system administrator' : 'author'

/** The smallest workflow that there is, in the DSL. */
export const definitionText = (name: string, version = '1.0.0'): string =>
  [
    'document:',
    "  dsl: '1.0.0'",
    '  namespace: test',
    `  name: ${name}`,
    `  version: '${version}'`,
    'do:',
    '  - greet:',
    '      set:',
    '        greeting: hello',
    '',
  ].join('\n')

export interface Seeded {
  readonly id?: string
  readonly name: string
  readonly folder?: string
  readonly version?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly form?: Values | undefined
}

/** A workflow that is stored as an import would. */
export async function seedWorkflow(
  { as }: Pick<WorkflowDatabase, 'as'>,
  who: Who,
  { id = randomUUID(), name, folder = 'Library', ...more }: Seeded,
): Promise<NewVersion> {
  const { version = '1.0.0', description = '', tags = [], form } = more
  const text = definitionText(name, version)
  const document = {
    document: { dsl: '1.0.0', namespace: 'test', name, version },
    do: [{ greet: { set: { greeting: 'hello' } } }],
  }
  return as(who, async (tx) => {
    const category = await ensureCategory(tx, who.org, folder)
    const made: NewVersion = {
      ...{ id, category, name, description, tags, version, text, document, form },
      ...{ namespace: 'test', called: name, digest: digestOf(text) },
    }
    await saveVersion(tx, who, made)
    return made
  })
}

/** A run that was asked for, and that the cloud has given something to act with. */
export async function seedExecution(
  { as, db }: Pick<WorkflowDatabase, 'as' | 'db'>,
  who: Who,
  workflow: NewVersion,
  input: Values = {},
): Promise<string> {
  const id = randomUUID()
  await as(who, (tx) =>
    addExecution(tx, who, {
      ...{ id, workflow: { ...workflow, org: who.org }, input, secrets: new Map() },
      ...{ requestKey: undefined, most: 1000 },
    }),
  )
  await keepGrant(db, { org: who.org, id }, `grant-${id}`)
  return id
}
