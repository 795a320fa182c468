// A separate workflow server database for a test: migrated, with two organisations that the cloud would know.
import { randomBytes, randomUUID } from 'node:crypto'

import { freshDatabase, type Postgres } from '@skerry/lab'
import { inOrg, openDatabase, openTenants } from '@skerry/postgres'
import type { OrgId, UserId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { tablesOf } from '../../cloud/test/cloud-database.ts'
import {
  rights,
  seesAll,
  type WorkflowRole,
  type WorkflowPrincipal,
} from '../src/identity/rights.ts'
import { actingAs } from '../src/store/acting-as.ts'
import { ensureCategory } from '../src/store/categories.ts'
import type { WorkflowTables, WorkflowTx, RunValues } from '../src/store/database.ts'
import { addExecution, keepGrant } from '../src/store/executions.ts'
import { digestOf } from '../src/store/load-run.ts'
import { prepareTables } from '../src/store/open-store.ts'
import { addSchedule, openSchedule } from '../src/store/schedules.ts'
import { saveVersion, type NewVersion } from '../src/store/workflows.ts'

export interface WorkflowDatabase extends AsyncDisposable {
  readonly db: Kysely<WorkflowTables>
  /** The owner's connection URL. */
  readonly url: string
  as<T>(principal: WorkflowPrincipal, work: (tx: WorkflowTx) => Promise<T>): Promise<T>
}

/** For a PostgreSQL whose databases are prepared with the tables of a workflow server. */
export const workflowTables = tablesOf('workflow', prepareTables)

export async function openWorkflowDatabase(postgres: Postgres): Promise<WorkflowDatabase> {
  const { url, [Symbol.asyncDispose]: drop } = await freshDatabase(postgres, prepareTables)
  const options = { applicationName: 'test', size: 8 }
  const db = openDatabase<WorkflowTables>({
    ...options,
    url: actingAs(url, 'skerry_workflow_system'),
  })
  const tenants = openTenants<WorkflowTables>({
    ...options,
    url: actingAs(url, 'skerry_workflow_tenant'),
  })
  return {
    db,
    url,
    as: (principal, work) =>
      seesAll(principal) ? db.transaction().execute(work) : inOrg(tenants, principal.org, work),
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

/** A user with this role, not used by any other test. */
export const someone = (
  orgName: keyof typeof orgs = 'eng',
  role: WorkflowRole = role0(orgName),
  user = `${orgName}-${randomBytes(3).toString('hex')}`,
): WorkflowPrincipal => ({
  account: randomUUID() as UserId,
  user,
  org: orgs[orgName],
  orgName,
  role,
  rights: rights[role],
})

const role0 = (orgName: keyof typeof orgs): WorkflowRole =>
  orgName === 'System' ? 'system administrator' : 'author'

/** The smallest valid workflow. */
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
  readonly form?: RunValues | undefined
}

/** A workflow stored as an import would store it. */
export async function seedWorkflow(
  { as }: Pick<WorkflowDatabase, 'as'>,
  principal: WorkflowPrincipal,
  { id = randomUUID(), name, folder = 'Library', ...more }: Seeded,
): Promise<NewVersion> {
  const { version = '1.0.0', description = '', tags = [], form } = more
  const text = definitionText(name, version)
  const document = {
    document: { dsl: '1.0.0', namespace: 'test', name, version },
    do: [{ greet: { set: { greeting: 'hello' } } }],
  }
  return as(principal, async (tx) => {
    const category = await ensureCategory(tx, principal.org, folder)
    const made: NewVersion = {
      id,
      category,
      name,
      description,
      tags,
      version,
      text,
      document,
      form,
      namespace: 'test',
      called: name,
      digest: digestOf(text),
    }
    await saveVersion(tx, principal, made)
    return made
  })
}

/** A requested run with a grant from the cloud. */
export async function seedExecution(
  { as, db }: Pick<WorkflowDatabase, 'as' | 'db'>,
  principal: WorkflowPrincipal,
  workflow: NewVersion,
  input: RunValues = {},
): Promise<string> {
  const id = randomUUID()
  await as(principal, (tx) =>
    addExecution(tx, principal, {
      id,
      workflow: { ...workflow, org: principal.org },
      input,
      secrets: new Map(),
      requestKey: undefined,
      most: 1000,
    }),
  )
  await keepGrant(db, { org: principal.org, id }, `grant-${id}`)
  return id
}

/** Returns its id. `isOpen` (default: true): whether it exists, or is as a crash in the middle of its creation leaves it. */
export async function seedSchedule(
  store: WorkflowDatabase,
  principal: WorkflowPrincipal,
  {
    workflow,
    input = {},
    isOpen = true,
  }: { readonly workflow: string; readonly input?: RunValues; readonly isOpen?: boolean },
): Promise<string> {
  const id = randomUUID()
  const { org, account, user } = principal
  await store.as(principal, async (tx) => {
    await addSchedule(tx, {
      org,
      id,
      workflow,
      name: 'nightly',
      account,
      accountName: user,
      cron: '0 3 * * *',
      everySeconds: undefined,
      timeZone: 'Europe/Berlin',
      overlap: 'skip',
      paused: false,
      input,
    })
    if (isOpen) await openSchedule(tx, { org, id })
  })
  return id
}
