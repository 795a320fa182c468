import { tenantAdmin, type Args } from '@skerry/command-line'
import { Fault } from '@skerry/fault'
import type { Kysely } from 'kysely'

import { named, operator } from '../command-line/account-named.ts'
import {
  maybe,
  printRows,
  runs,
  type AdminCommand,
  type CommandContext,
} from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import type { CloudTables } from '../database/tables.ts'
import { addOrg, orgNamed } from '../tenants/accounts.ts'
import { listOrgs } from '../tenants/operator-lists.ts'
import { findOrg, type OrgRow } from '../tenants/orgs.ts'
import { readQuota, readUsage, type Quota } from '../tenants/quotas.ts'
import { changeOrg, changeQuota } from '../tenants/tenants.ts'

async function wanted(db: Kysely<CloudTables>, requested: Args): Promise<OrgRow> {
  const org = await findOrg(db, await orgNamed(db, requested.words[0] ?? ''))
  if (org) return org
  throw new Fault('not-found', `organisation ${requested.words[0]} was deleted meanwhile`)
}

const add = runs(tenantAdmin.createOrg, ({ print }, requested) =>
  withStore(requested, async (db) => {
    const name = named(requested.words[0])
    const org = await addOrg(db, name, named(maybe(requested, 'vdc') ?? 'main'))
    print(requested.json ? JSON.stringify({ org, name }) : `organisation ${name}`)
  }),
)

const list = runs(tenantAdmin.listOrgs, (context, requested) =>
  withStore(requested, async (db) => {
    printRows(
      context,
      requested,
      [...(await listOrgs(db))].map((each) => ({ ...each })),
      ['name', 'enabled', 'users', 'vms', 'id'],
    )
  }),
)

const enabling = (enabled: boolean): AdminCommand =>
  runs(enabled ? tenantAdmin.enableOrg : tenantAdmin.disableOrg, ({ print }, requested) =>
    withStore(requested, async (db) => {
      const org = await wanted(db, requested)
      const by = await operator(db)
      await db.transaction().execute((tx) => changeOrg(tx, by, org, { enabled }))
      const said = { org: org.name, enabled }
      const words = enabled
        ? `organisation ${org.name} is enabled: its users may log in`
        : `organisation ${org.name} is disabled: its users are logged out, its VMs stay as they are`
      print(requested.json ? JSON.stringify(said) : words)
    }),
  )

/** Option name of each bound. */
const bounds = {
  vms: 'vms',
  'running-vms': 'runningVms',
  cpus: 'cpus',
  'memory-mib': 'memoryMiB',
  'storage-mib': 'storageMiB',
  networks: 'networks',
} as const satisfies Record<string, keyof Quota>
const NONE = 'none'

async function printQuota(
  db: Kysely<CloudTables>,
  context: CommandContext,
  requested: Args,
  { id, name }: OrgRow,
): Promise<void> {
  const [quota, now] = [await readQuota(db, id), await readUsage(db, id)]
  if (requested.json) {
    return context.print(JSON.stringify({ org: name, quota, used: now }))
  }
  const rows = Object.entries(bounds).map(([bound, key]) => ({
    bound,
    most: quota[key] ?? NONE,
    used: now[key],
  }))
  printRows(context, requested, rows, ['bound', 'most', 'used'])
}

const show = runs(tenantAdmin.showQuota, (context, requested) =>
  withStore(requested, async (db) =>
    printQuota(db, context, requested, await wanted(db, requested)),
  ),
)

function boundIn(requested: Args, option: keyof typeof bounds): number | typeof NONE | undefined {
  const said = maybe(requested, option)
  if (said === undefined || said === NONE) return said
  if (/^\d{1,9}$/.test(said)) return Number(said)
  throw new Fault('invalid', `--${option} must be a whole number or ${NONE}, not ${said}`)
}

const set = runs(tenantAdmin.setQuota, (context, requested) =>
  withStore(requested, async (db) => {
    const org = await wanted(db, requested)
    const changes = Object.entries(bounds).map(
      ([option, key]) => [key, boundIn(requested, option as keyof typeof bounds)] as const,
    )
    if (changes.every(([, value]) => value === undefined)) {
      throw new Fault('invalid', 'no bound given', {
        hint: `skerry admin quota set ${org.name} --vms 10`,
      })
    }
    const before = await readQuota(db, org.id)
    const after: Quota = Object.fromEntries(
      changes
        .map(([key, value]) => [key, value === undefined ? before[key] : value] as const)
        .filter(([, value]) => value !== undefined && value !== NONE),
    )
    const by = await operator(db)
    await db.transaction().execute((tx) => changeQuota(tx, by, org, after))
    await printQuota(db, context, requested, org)
  }),
)

export const orgs: readonly AdminCommand[] = [add, list, enabling(true), enabling(false), show, set]
