import { Fault } from '@skerry/fault'
import type { Kysely } from 'kysely'

import { maybe, printRows, type Asked, type Command } from '../command.ts'
import { addOrg, orgNamed } from '../store/accounts.ts'
import type { Database } from '../store/database.ts'
import { findOrg, type OrgRow } from '../store/orgs.ts'
import { readQuota, used, type Quota } from '../store/quotas.ts'
import { listOrgs } from '../store/rule.ts'
import { changeOrg, changeQuota } from '../store/tenants.ts'
import { named, operator } from './account-named.ts'
import { withStore } from './with-store.ts'

async function wanted(db: Kysely<Database>, asked: Asked): Promise<OrgRow> {
  const org = await findOrg(db, await orgNamed(db, asked.words[0] ?? ''))
  if (org) return org
  throw new Fault('not-found', `organisation ${asked.words[0]} has gone meanwhile`)
}

const add: Command = {
  name: 'org add',
  words: ['NAME'],
  options: { vdc: 'NAME' },
  summary: 'makes an organisation with one vdc, called main unless told',
  run: ({ print }, asked) =>
    withStore(asked, async (db) => {
      const name = named(asked.words[0])
      const org = await addOrg(db, name, named(maybe(asked, 'vdc') ?? 'main'))
      print(asked.options['json'] === true ? JSON.stringify({ org, name }) : `organisation ${name}`)
    }),
}

const list: Command = {
  name: 'org list',
  words: [],
  options: {},
  summary: 'all organisations: whether their users are let in, how many users and VMs they have',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      printRows(
        world,
        asked,
        [...(await listOrgs(db))].map((each) => ({ ...each })),
        [...['name', 'enabled', 'users', 'vms', 'id']],
      )
    }),
}

const enabling = (enabled: boolean): Command => ({
  name: enabled ? 'org enable' : 'org disable',
  words: ['NAME'],
  options: {},
  summary: enabled
    ? 'lets the users of an organisation in again'
    : 'lets nobody of an organisation in from now on; its VMs stay as they are',
  run: ({ print }, asked) =>
    withStore(asked, async (db) => {
      const org = await wanted(db, asked)
      const by = await operator(db)
      await db.transaction().execute((tx) => changeOrg(tx, by, org, { enabled }))
      const said = { org: org.name, enabled }
      const words = enabled
        ? `organisation ${org.name} is enabled: its users may log in`
        : `organisation ${org.name} is disabled: its users are out, its VMs stay as they are`
      print(asked.options['json'] === true ? JSON.stringify(said) : words)
    }),
})

/** What each bound is called here. */
const bounds = {
  vms: 'vms',
  'running-vms': 'runningVms',
  cpus: 'cpus',
  'memory-mib': 'memoryMiB',
  'storage-mib': 'storageMiB',
} as const satisfies Record<string, keyof Quota>
const NONE = 'none'

async function printQuota(
  db: Kysely<Database>,
  world: Parameters<Command['run']>[0],
  asked: Asked,
  { id, name }: OrgRow,
): Promise<void> {
  const [quota, now] = [await readQuota(db, id), await used(db, id)]
  if (asked.options['json'] === true) {
    return world.print(JSON.stringify({ org: name, quota, used: now }))
  }
  const rows = Object.entries(bounds).map(([bound, key]) => ({
    ...{ bound, most: quota[key] ?? NONE, used: now[key] },
  }))
  printRows(world, asked, rows, ['bound', 'most', 'used'])
}

const show: Command = {
  name: 'quota show',
  words: ['ORG'],
  options: {},
  summary: 'what an organisation may have at most, and what it has',
  run: (world, asked) =>
    withStore(asked, async (db) => printQuota(db, world, asked, await wanted(db, asked))),
}

function boundIn(asked: Asked, option: string): number | typeof NONE | undefined {
  const said = maybe(asked, option)
  if (said === undefined || said === NONE) return said
  if (/^\d{1,9}$/.test(said)) return Number(said)
  throw new Fault('invalid', `--${option} must be a whole number or ${NONE}, not ${said}`)
}

const set: Command = {
  name: 'quota set',
  words: ['ORG'],
  options: Object.fromEntries(Object.keys(bounds).map((each) => [each, 'N|none'])),
  summary: 'bounds what an organisation may have; what is not named stays, and none is no bound',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const org = await wanted(db, asked)
      const changes = Object.entries(bounds).map(
        ([option, key]) => [key, boundIn(asked, option)] as const,
      )
      if (changes.every(([, value]) => value === undefined)) {
        throw new Fault('invalid', 'name at least one bound', {
          hint: `skerry cloud quota set ${org.name} --vms 10`,
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
      await printQuota(db, world, asked, org)
    }),
}

export const orgs: readonly Command[] = [add, list, enabling(true), enabling(false), show, set]
