// Goal: edge gateways, their static routes and networks of a site are created, changed and deleted with `skerry` from any machine.
// Method: as cli-networks.test.ts, with an external network that a host reaches.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { sql } from 'kysely'

import type { Profile } from '../../cli/src/profiles/profiles.ts'
import { keptProfiles, skerry, type Ran } from '../../cli/test/terminal.ts'
import { writeNics } from '../src/inventory/nics.ts'
import { openZone, projectAll } from './open-zone.ts'
import { openTenantsApi, type TenantsApi } from './tenants-api.ts'

type Role = Parameters<TenantsApi['enter']>[1]
type Run = (...words: readonly string[]) => Promise<Ran>

let api: TenantsApi
let zone: Awaited<ReturnType<typeof openZone>>
let author: Run
let chief: Run
let system: Run
before(async () => {
  api = await openTenantsApi()
  zone = await openZone(api.cloud.db, api.cloud.host)
  await sql`update host set uplinks = '{out,lan,office}'`.execute(api.cloud.db)
  author = await as('author')
  chief = await as('organisation administrator')
  system = await as('system administrator')
  const office = ['--range', '198.51.100.0/24', '--uplink', 'office']
  const pool = ['--pool', '198.51.100.10-198.51.100.29']
  const made = await system('external', 'create', 'office', ...office, ...pool)
  assert.equal(made.code, 0, made.err)
})
after(() => api[Symbol.asyncDispose]())

async function as(role: Role): Promise<Run> {
  const token = await api.enter(api.eng.org, role)
  const url = `http://127.0.0.1:${api.port}`
  const work: Profile = { url, user: 'alice@eng', token, vdc: 'centre' }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  return (...words) => skerry('http://127.0.0.1:9', words, { profiles })
}

/** Runs a command that waits for its task, while a network server makes the change. Returns what it prints. */
async function done(run: Run, ...words: readonly string[]): Promise<string> {
  const ended = new AbortController()
  const running = run(...words).finally(() => ended.abort())
  while (!ended.signal.aborted) await projectAll(api.cloud.db, zone)
  const { code, out, err } = await running
  assert.equal(code, 0, `${words.join(' ')}: ${err}`)
  return out
}

const json = async (run: Run, ...words: readonly string[]): Promise<unknown> =>
  JSON.parse(await done(run, ...words, '--json'))

/** A VM that is off, with one card on the network lab. */
async function vmOnLab(): Promise<string> {
  const { db } = api.cloud
  const { org, ids } = api.eng
  const [vm] = (await api.cloud.addVms(1)).vms
  assert.ok(vm)
  await sql`update vm set vdc = ${ids['vdc']} where id = ${vm}`.execute(db)
  const nic = { index: 0, network: ids['network'] ?? '', mode: 'POOL', connected: true } as const
  await db.transaction().execute((tx) => writeNics(tx, org, new Map([[vm, [nic]]])))
  return `vm-${vm}`
}

test('an edge gateway is created on an external network, gets a network, and is deleted without it', async () => {
  const made = await done(system, 'edge', 'create', 'shop', '--external', 'office')
  assert.equal(made, 'edge gateway shop is created: on office, address 198.51.100.10\n')
  const refused = await chief('edge', 'create', 'other')
  assert.match(
    refused.err,
    /centre takes no edge gateways\nnext: an edge gateway needs an administrator of the cloud/,
  )
  assert.match((await system('edge', 'create', 'shop')).err, /edge gateway shop already exists/)
  assert.match(
    (await system('edge', 'create', 'x', '--external', 'nowhere')).err,
    /no external network nowhere\nnext: skerry external list/,
  )
  const behind = ['network', 'create', 'till', '--range', '10.40.0.0/24', '--edge', 'shop']
  assert.equal(await done(chief, ...behind), 'network till is created\n')
  const shop = (await json(chief, 'edge', 'info', 'shop')) as { readonly networks: unknown }
  assert.deepEqual(shop.networks, ['till'])
  assert.match((await system('edge', 'rm', 'shop')).err, /network till is behind edge gateway shop/)
  assert.equal(await done(chief, 'network', 'rm', 'till'), 'network till is deleted\n')
  assert.match((await chief('edge', 'rm', 'shop')).err, /alice@eng lacks the right/)
  assert.equal(await done(system, 'edge', 'rm', 'shop'), 'edge gateway shop is deleted\n')
  assert.match(
    (await system('edge', 'rm', 'shop')).err,
    /there is no edge gateway shop\nnext: skerry edge list/,
  )
})

test('an administrator of the cloud creates an edge gateway in another organisation', async () => {
  const into = ['edge', 'create', 'branch', '--external', 'office', '--org', 'ops']
  const made = (await json(system, ...into)) as Readonly<Record<string, unknown>>
  assert.deepEqual([made['name'], made['external']], ['branch', 'office'])
  const [row] = (await json(system, 'edge', 'list', '--filter', 'name==branch')) as {
    readonly orgName: string
  }[]
  assert.equal(row?.orgName, 'ops')
  assert.match(
    (await system(...into, '--vdc', 'nowhere')).err,
    /ops has no data centre nowhere\nnext: it has centre\n/,
  )
  assert.match((await system('edge', 'create', 'x', '--org', 'none')).err, /no organisation none/)
  assert.equal((await chief(...into)).code, 1)
  await done(system, 'edge', 'rm', 'branch')
})

test('static routes of an edge gateway are added, listed, completed and removed', async () => {
  await done(system, 'edge', 'create', 'hub', '--external', 'office')
  const hub = ['--edge', 'hub'] as const
  const first = await done(chief, 'route', 'add', '192.168.50.0/24', '198.51.100.254', ...hub)
  assert.equal(first, 'packets to 192.168.50.0/24 go to 198.51.100.254\n')
  const named = ['--name', 'plant', ...hub]
  await done(chief, 'route', 'add', '172.16.1.2/12', '198.51.100.253', ...named)
  const table = await done(chief, 'route', 'list', ...hub)
  assert.match(
    table,
    /^TARGET +NEXT HOP +NAME\n192\.168\.50\.0\/24 +198\.51\.100\.254 +-?\n172\.16\.0\.0\/12 +198\.51\.100\.253 +plant\n$/,
  )
  assert.match(await done(chief, 'edge', 'info', 'hub'), /^static routes +2$/m)
  const add = (...words: readonly string[]) => chief('route', 'add', ...words, ...hub)
  assert.match(
    (await add('192.168.50.9/24', '198.51.100.1')).err,
    /go to 198\.51\.100\.254 already\nnext: .*skerry route rm 192\.168\.50\.0\/24/,
  )
  assert.match((await add('10.9.0.0/16', '192.0.2.1')).err, /192\.0\.2\.1 must be in one of/)
  assert.equal((await add('10.9.0.0/33', '198.51.100.1')).code, 2)
  assert.equal((await add('10.9.0.0/16', 'router')).code, 2)
  const without = await author('route', 'add', '10.9.0.0/16', '198.51.100.1', ...hub)
  assert.match(without.err, /rules of edge gateway hub cannot be changed/)
  const completed = (await chief('complete', '--', 'route', 'rm', '172')).out
  assert.equal(completed, '172.16.0.0/12\n')
  await done(chief, 'route', 'rm', '192.168.50.0/24', '172.16.0.0/12', ...hub)
  assert.deepEqual(await json(chief, 'route', 'list', ...hub), [])
  assert.match(
    (await chief('route', 'rm', '192.168.50.0/24', ...hub)).err,
    /there is no route to 192\.168\.50\.0\/24\nnext: skerry route list/,
  )
  await done(system, 'edge', 'rm', 'hub')
})

test('a port of the second card of a VM is published by its number', async () => {
  await done(system, 'edge', 'create', 'gate', '--external', 'office')
  const side = ['network', 'create', 'side', '--range', '10.50.0.0/24', '--edge', 'gate']
  await done(chief, ...side)
  const vm = ['create', 'duo', '--template', 'debian', '--no-wait']
  const made = await author(...vm, '--network', 'lab', '--network', 'side')
  assert.equal(made.code, 0, made.err)
  const out = await done(chief, 'publish', 'duo', '--port', '8443', '--card', '1')
  assert.match(out, /^port 8443 of duo is published: 198\.51\.100\.\d+, tcp port 8443\n$/)
  const [rule] = (await json(chief, 'nat', 'list', '--edge', 'gate')) as {
    readonly internal: string
  }[]
  assert.match(rule?.internal ?? '', /^10\.50\.0\.\d+$/)
  assert.match(
    (await chief('publish', 'duo', '--port', '8443', '--card', '7')).err,
    /card 7 of duo is on no network with an edge gateway\nnext: use another card: (0, )?1; or .*skerry connect duo default --card 7/,
  )
  assert.equal((await chief('publish', 'duo', '--port', '80', '--card', 'x')).code, 2)
  await done(chief, 'unpublish', 'duo', '--port', '8443', '--card', '1')
  assert.deepEqual(await json(chief, 'nat', 'list', '--edge', 'gate'), [])
})

test('a direct network is made by administrators of the cloud, and VMs are created on it and connected to it', async () => {
  const made = await done(system, 'network', 'create', 'wire', '--direct', 'office')
  assert.equal(made, 'network wire is created\n')
  assert.match(await done(author, 'network', 'list'), /\nwire +.* the outside +/)
  const vm = ['create', 'press', '--template', 'debian', '--no-wait']
  const created = await author(...vm, '--network', 'wire')
  assert.equal(created.code, 0, created.err)
  const connected = await author('connect', await vmOnLab(), 'wire', '--no-wait')
  assert.equal(connected.code, 0, connected.err)
  assert.equal((await chief('network', 'create', 'x', '--direct', 'office')).code, 1)
  const both = await system('network', 'create', 'x', '--direct', 'office', '--pool', 'A-B')
  assert.equal(both.code, 2)
  assert.match(both.err, /give --direct or --pool, not both/)
})
