// Goal: cards, rules and addresses of networks are changed with `skerry` from any machine. Method: as cli-resources.test.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Profile } from '../../cli/src/profiles/profiles.ts'
import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import { writeNics } from '../src/inventory/nics.ts'
import { openZone, projectAll } from './open-zone.ts'
import { openTenantsApi, type TenantsApi } from './tenants-api.ts'

type Role = Parameters<TenantsApi['enter']>[1]
type Run = (...words: readonly string[]) => ReturnType<typeof skerry>

let api: TenantsApi
let zone: Awaited<ReturnType<typeof openZone>>
let author: Run
let chief: Run
before(async () => {
  api = await openTenantsApi()
  zone = await openZone(api.cloud.db, api.cloud.host)
  author = await as('author')
  chief = await as('organisation administrator')
})
after(() => api[Symbol.asyncDispose]())

async function as(role: Role): Promise<Run> {
  const token = await api.enter(api.eng.org, role)
  const work: Profile = { url: `http://127.0.0.1:${api.port}`, user: 'alice@eng', token }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  return (...words) => skerry('http://127.0.0.1:9', words, { profiles })
}

async function succeeds(run: Run, ...words: readonly string[]): Promise<string> {
  const { code, out, err } = await run(...words)
  assert.equal(code, 0, `${words.join(' ')}: ${err}`)
  await projectAll(api.cloud.db, zone)
  return out
}

/** A VM that is off, with one card on the network lab. */
async function vmOnLab(): Promise<string> {
  const { db } = api.cloud
  const [vm] = (await api.cloud.addVms(1)).vms
  assert.ok(vm)
  await sql`update vm set vdc = ${api.eng.ids['vdc']} where id = ${vm}`.execute(db)
  const network = api.eng.ids['network'] ?? ''
  const nic = { index: 0, network, mode: 'POOL' as const, connected: true }
  await db.transaction().execute((tx) => writeNics(tx, api.eng.org, new Map([[vm, [nic]]])))
  return vm
}

/** The cards that the newest task of a VM writes. */
async function wantedNics(vm: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { input } = await api.cloud.db
    .selectFrom('task')
    .select('input')
    .where('vm', '=', vm as VmId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  return (input as { nics: Record<string, unknown>[] }).nics
}

test('a card is connected to a network, with an address of choice, and disconnected again', async () => {
  const vm = await vmOnLab()
  const range = ['--range', '192.168.40.0/24', '--vdc', 'centre', '--no-wait']
  await succeeds(chief, 'network', 'create', 'cards', ...range)
  const word = `vm-${vm}`
  const address = ['--card', '1', '--address', '192.168.40.9', '--no-wait']
  assert.match(
    await succeeds(author, 'connect', word, 'cards', ...address),
    /^vm-\S+: task \S+ is running\n$/,
  )
  const [first, second] = await wantedNics(vm)
  assert.deepEqual([first?.['mode'], first?.['connected']], ['POOL', true])
  assert.deepEqual(
    [second?.['index'], second?.['mode'], second?.['address']],
    [1, 'MANUAL', '192.168.40.9'],
  )
  await sql`update vm set queue_target = null where id = ${vm}`.execute(api.cloud.db)
  await succeeds(author, 'disconnect', word, '--no-wait')
  const [pulled] = await wantedNics(vm)
  assert.deepEqual([pulled?.['network'], pulled?.['connected']], [api.eng.ids['network'], false])
  const none = await author('disconnect', word, '--card', '7')
  assert.match(none.err, /vm-\S+ has no card 7\nnext: its cards: 0/)
  const nowhere = await author('connect', word, 'nowhere')
  assert.deepEqual([nowhere.code, /nowhere/.test(nowhere.err)], [1, true], nowhere.err)
  assert.equal((await author('connect', word, 'lab', '--card', 'x')).code, 2)
})
