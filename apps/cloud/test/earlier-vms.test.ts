// Goal: a VM that was created before its site had networks across hosts keeps the card of its host until `skerry connect` gives it one on a
// network, and has that one whenever it is turned on. Method: the command line over HTTP, tasks executed by the same functions that Temporal
// calls, a simulated host.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { simulatedHost } from '@skerry/lab/simulated-host'
import type { VmId } from '@skerry/vm'

import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import { CutHost, followed, type Followed } from './away-host.ts'
import { seal, vmOf } from './cloud-database.ts'
import { openZone } from './open-zone.ts'
import { openTenantsApi, type TenantsApi } from './tenants-api.ts'
import { workQueue } from './work-queue.ts'

let api: TenantsApi
let following: Followed
const host = simulatedHost()
before(async () => {
  api = await openTenantsApi()
  following = await followed(api.cloud.db, api.cloud.host, new CutHost(host))
})
after(async () => {
  await following[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
})

async function run(...words: readonly string[]) {
  const work = { url: `http://127.0.0.1:${api.port}`, user: 'alice@eng', token: api.eng.token }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  return skerry('http://127.0.0.1:9', words, { profiles })
}

/** Executes the command's task too. */
async function does(vm: VmId, ...words: readonly string[]): Promise<void> {
  const { code, err } = await run(...words, '--no-wait')
  assert.equal(code, 0, `${words.join(' ')}: ${err}`)
  await work(vm)
}

const work = (vm: VmId) => workQueue({ db: api.cloud.db, hosts: () => host, seal }, vm)

/** The cards that the host was given last; undefined: that of the host. */
async function nicsAtHost(vm: VmId) {
  const records = await Array.fromAsync(host.records())
  const spec = records.find((record) => record.vm === vm)?.spec
  return spec?.nics?.map(({ network, mac }) => ({ network, mac }))
}

test('a VM from before networks gets a card on one, and has it whenever it is turned on', async () => {
  const { db } = api.cloud
  const made = await run('create', 'early', '--vdc', 'centre', '--start', '--no-wait')
  assert.equal(made.code, 0, made.err)
  const { id: vm } = await db
    .selectFrom('vm')
    .select('id')
    .where('name', '=', 'early')
    .executeTakeFirstOrThrow()
  await work(vm)
  const power = () => host.find(vm)?.power
  assert.deepEqual([power(), await nicsAtHost(vm)], ['on', undefined])
  const card = host.find(vm)?.card
  assert.ok(card)

  host.changeOverlay({ state: 'ready', uplinks: ['out'] })
  await openZone(db, api.cloud.host)
  const refused = await run('connect', 'early', 'lab', '--no-wait')
  assert.match(refused.err, /power it off to change networks/)
  await does(vm, 'stop', 'early', '--force')
  await does(vm, 'start', 'early')
  assert.deepEqual([power(), host.find(vm)?.card], ['on', card], 'it keeps the card of its host')

  await does(vm, 'stop', 'early', '--force')
  await does(vm, 'connect', 'early', 'lab')
  const { network } = api.eng.ids
  for (const _ of ['first', 'second']) {
    await does(vm, 'start', 'early')
    assert.deepEqual([power(), await nicsAtHost(vm)], ['on', [{ network, mac: card.mac }]])
    assert.deepEqual([host.find(vm)?.card, (await vmOf(db, vm)).status], [undefined, 'POWERED_ON'])
    await does(vm, 'stop', 'early', '--force')
    assert.equal(power(), 'off')
  }
  assert.match((await run('info', 'early')).out, /^network +lab$/m)
})
