// Goal: cards, rules and addresses of networks are changed with `skerry` from any machine. Method: as cli-resources.test.ts.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { eui64Address, type VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Profile } from '../../cli/src/profiles/profiles.ts'
import type { LocalMachine } from '../../cli/src/run-command.ts'
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
let system: Run
before(async () => {
  api = await openTenantsApi()
  zone = await openZone(api.cloud.db, api.cloud.host)
  // The organisation begins with the edge gateway that its first VM makes, and no other.
  const { edgeGateway } = api.eng.ids
  await sql`delete from external_address where edge_gateway = ${edgeGateway}`.execute(api.cloud.db)
  await sql`update edge_gateway set deleted_at = clock_timestamp() where id = ${edgeGateway}`.execute(
    api.cloud.db,
  )
  author = await as('author')
  chief = await as('organisation administrator')
  system = await as('system administrator')
})
after(() => api[Symbol.asyncDispose]())

async function as(role: Role, more: Partial<LocalMachine> = {}): Promise<Run> {
  const token = await api.enter(api.eng.org, role)
  const work: Profile = { url: `http://127.0.0.1:${api.port}`, user: 'alice@eng', token }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  return (...words) => skerry('http://127.0.0.1:9', words, { profiles, ...more })
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

test('a routed network is created with IPv6, lists its prefix, and a VM on it shows its address', async () => {
  const range = ['--range', '10.60.0.0/24', '--vdc', 'centre', '--no-wait']
  await succeeds(chief, 'network', 'create', 'dual', '--routed', '--ipv6', ...range)
  const [row] = await rowsFor(chief, 'network', 'list', '--filter', 'name==dual')
  const prefix = String(row?.['ipv6Prefix'])
  assert.match(await succeeds(author, 'network', 'list'), /^NAME +GATEWAY +NETMASK +IPV6 +REACHES/)
  const vm = await vmOnLab()
  assert.doesNotMatch(await succeeds(author, 'info', `vm-${vm}`), /^ipv6/m)
  const { id } = await api.cloud.db
    .selectFrom('network')
    .select('id')
    .where('ipv6_prefix', '=', prefix)
    .executeTakeFirstOrThrow()
  const nic = { index: 0, network: id, mode: 'POOL' as const, connected: true }
  await api.cloud.db
    .transaction()
    .execute((tx) => writeNics(tx, api.eng.org, new Map([[vm as VmId, [nic]]])))
  const { mac } = await api.cloud.db
    .selectFrom('nic')
    .select('mac')
    .where('vm', '=', vm as VmId)
    .executeTakeFirstOrThrow()
  const shown = await succeeds(author, 'info', `vm-${vm}`, '--json')
  assert.equal((JSON.parse(shown) as { ipv6?: string }).ipv6, eui64Address(prefix, mac))
  const busy = await chief('network', 'set', 'dual', '--ipv6', 'no')
  assert.deepEqual([busy.code, /VM/.test(busy.err)], [1, true], busy.err)
  const alone = await chief('network', 'create', 'x', '--ipv6', ...range)
  assert.equal(alone.code, 2)
  assert.match(alone.err, /only a routed network can have IPv6/)
  const direct = await system('network', 'create', 'x', '--direct', 'office', '--ipv6')
  assert.match(direct.err, /give --direct or --ipv6, not both/)
})

test('name, text, pool, name servers and IPv6 of a network are changed', async () => {
  const range = ['--range', '10.61.0.0/24', '--vdc', 'centre', '--no-wait']
  await succeeds(chief, 'network', 'create', 'plain', '--routed', '--dns', '10.61.0.2', ...range)
  const { id } = await networkRow('plain')
  const started = (out: string) => assert.match(out, /^network plain: task \S+ is running\n$/)
  started(await succeeds(chief, 'network', 'set', 'plain', '--ipv6', 'yes', '--no-wait'))
  assert.match(String((await networkRow('plain')).ipv6_prefix), /^fd[0-9a-f:]+\/64$/)
  const pool = ['--pool', '10.61.0.10-10.61.0.19,10.61.0.50-10.61.0.59', '--dns', 'none']
  started(await succeeds(chief, 'network', 'set', 'plain', ...pool, '--no-wait'))
  const ranges = await api.cloud.db
    .selectFrom('network_range')
    .selectAll()
    .where('network', '=', id)
    .execute()
  assert.equal(ranges.length, 2)
  const names = ['--name', 'dual-stack', '--description', 'both']
  await succeeds(chief, 'network', 'set', 'plain', ...names, '--ipv6', 'no', '--no-wait')
  const after = await networkRow('dual-stack')
  assert.deepEqual([after.ipv6_prefix, after.description, after.dns], [null, 'both', []])
  const nothing = await chief('network', 'set', 'dual-stack')
  assert.deepEqual([nothing.code, /no change given/.test(nothing.err)], [2, true])
  const unclear = await chief('network', 'set', 'dual-stack', '--ipv6', 'maybe')
  assert.equal(unclear.code, 2)
  const refused = await author('network', 'set', 'dual-stack', '--ipv6', 'yes')
  assert.deepEqual([refused.code, /cannot be changed with your role/.test(refused.err)], [1, true])
})

const networkRow = (name: string) =>
  api.cloud.db.selectFrom('network').selectAll().where('name', '=', name).executeTakeFirstOrThrow()

const tagged = (vlan: string) => ['--range', '203.0.113.0/24', '--uplink', 'office', '--vlan', vlan]

test('external networks are created, shown and deleted by system administrators only', async () => {
  const pool = ['--pool', '203.0.113.10-203.0.113.29', '--dns', '9.9.9.9']
  const made = await system('external', 'create', 'office', ...tagged('42'), ...pool)
  assert.equal(made.out, 'external network office is created\n', made.err)
  const table = await succeeds(system, 'external', 'list')
  assert.match(table, /^NAME +UPLINK +VLAN +GATEWAY +NETMASK +DEFAULT +USED +ADDRESSES +ID\n/)
  assert.match(table, /\noffice +office +42 +203\.0\.113\.1 +255\.255\.255\.0 +-? +0 +20 +/)
  assert.match(await succeeds(system, 'external', 'info', 'office'), /^uplink +office$/m)
  assert.equal((await system('external', 'create', 'x', ...tagged('42'))).code, 2, 'without a pool')
  assert.equal((await chief('external', 'list')).code, 1)
  await succeeds(system, 'external', 'create', 'spare', ...tagged('43'), ...pool)
  const gone = await succeeds(system, 'external', 'rm', 'spare')
  assert.equal(gone, 'external network spare is deleted\n')
  assert.match(
    (await system('external', 'rm', 'spare')).err,
    /no external network spare\nnext: skerry external list/,
  )
})

test('an external network gets another pool, name servers, description and name; gateway and uplink stay', async () => {
  const pool = ['--pool', '203.0.113.100-203.0.113.109']
  await succeeds(system, 'external', 'create', 'plant', ...tagged('44'), ...pool)
  const set = (...words: readonly string[]) => system('external', 'set', 'plant', ...words)
  const wider = '203.0.113.100-203.0.113.119,203.0.113.130-203.0.113.139'
  const changed = await set('--pool', wider, '--dns', '9.9.9.9,1.1.1.1', '--description', 'hall 2')
  assert.equal(changed.out, 'external network plant is changed\n', changed.err)
  const [row] = await rowsFor(system, 'external', 'list', '--filter', 'name==plant')
  assert.deepEqual(
    [row?.['totalIpCount'], row?.['dns1'], row?.['dns2'], row?.['description'], row?.['vlan']],
    [30, '9.9.9.9', '1.1.1.1', 'hall 2', 44],
  )
  const { out } = await set('--dns', 'none', '--default', 'no', '--name', 'works', '--json')
  const { href, ...shown } = JSON.parse(out) as Readonly<Record<string, unknown>>
  assert.match(String(href), /\/externalnet\//)
  assert.deepEqual(shown, {
    name: 'works',
    description: 'hall 2',
    pool: wider.split(','),
    dns: [],
    default: false,
  })
  assert.match((await set('--default', 'no')).err, /no external network plant\n/)
  assert.equal((await set()).code, 2)
  assert.equal((await set('--default', 'maybe')).code, 2)
  const outside = ['--pool', '192.0.2.1-192.0.2.9']
  assert.match((await system('external', 'set', 'works', ...outside)).err, /must be within/)
  assert.match(
    (await system('external', 'set', 'outbound', '--dns', 'none')).err,
    /outbound cannot be changed\nnext: .*skerry external create/,
  )
  assert.equal((await chief('external', 'set', 'works', '--dns', 'none')).code, 1)
  await succeeds(system, 'external', 'rm', 'works')
})

/** A VM on the network default, which has an edge gateway. */
let web = ''
const rules = async (kind: 'nat' | 'firewall') =>
  JSON.parse(await succeeds(chief, kind, 'list', '--json')) as Readonly<Record<string, unknown>>[]
const now = ['--no-wait']

test('an edge gateway on the outbound network publishes nothing, and moves to an external network', async () => {
  const { db } = api.cloud
  const made = ['create', 'web', '--vdc', 'centre', '--template', 'debian', '--no-wait']
  await succeeds(author, ...made)
  web = 'web'
  const table = await succeeds(chief, 'edge', 'list')
  assert.match(
    table,
    /^NAME +ADDRESS +EXTERNAL NETWORK +NETWORKS +VDC +ID\ndefault +100\.64\.\S+ +outbound +/,
  )
  const refused = await chief('publish', web, '--port', '443', ...now)
  assert.match(
    refused.err,
    /edge gateway default is on the network outbound.*\nnext: .*skerry external create.*skerry edge set/s,
  )
  assert.equal((await chief('edge', 'set', 'default', '--external', 'office')).code, 1)
  await sql`update host set uplinks = '{out,office}'`.execute(db)
  await succeeds(system, 'edge', 'set', 'default', '--external', 'office', ...now)
  const shown = await succeeds(chief, 'edge', 'info')
  assert.match(shown, /^external network +office\naddress +203\.0\.113\.10\nnetworks +.*default/m)
  const { firewall } = JSON.parse(await succeeds(chief, 'edge', 'info', 'default', '--json')) as {
    firewall: { otherwise: string }
  }
  assert.equal(firewall.otherwise, 'deny')
  assert.equal((await chief('edge', 'set', 'default')).code, 2)
})

test('a published port is one change of NAT and firewall, made once, and ended as one', async () => {
  const versionOf = async () =>
    (JSON.parse(await succeeds(chief, 'edge', 'info', '--json')) as { version: number }).version
  const before = await versionOf()
  await succeeds(chief, 'publish', web, '--port', '443:8443', ...now)
  assert.equal(await versionOf(), before + 1)
  const [forward] = await rules('nat')
  assert.deepEqual(
    [forward?.['kind'], forward?.['external'], forward?.['port'], forward?.['internalPort']],
    ['forward', '203.0.113.10', 443, 8443],
  )
  const [pass] = await rules('firewall')
  assert.deepEqual(
    [pass?.['policy'], pass?.['destination'], pass?.['ports'], pass?.['protocols']],
    ['allow', '203.0.113.10', '443', ['tcp']],
  )
  const again = await succeeds(chief, 'publish', web, '--port', '443:8443')
  assert.equal(again, 'port 8443 of web is published: https://203.0.113.10\n')
  assert.equal(await versionOf(), before + 1, 'nothing was to be changed')
  assert.equal(
    (await author('publish', web, '--port', '80', ...now)).code,
    1,
    'authors lack the right',
  )
  assert.equal((await chief('publish', web)).code, 2)
  assert.equal((await chief('publish', web, '--port', '0')).code, 2)
  await succeeds(chief, 'unpublish', web, '--port', '443', ...now)
  assert.deepEqual([await rules('nat'), await rules('firewall')], [[], []])
  assert.match(
    (await chief('unpublish', web, '--port', '443')).err,
    /port 443 of web is not published/,
  )
})

test('two changes at the same time are both made: the one that was later is made again', async () => {
  const ports = ['81', '82', '83', '84']
  await Promise.all(ports.map((port) => succeeds(chief, 'publish', web, '--port', port, ...now)))
  const found = (await rules('nat')).map(({ port }) => String(port))
  assert.deepEqual(found.toSorted(), ports)
  assert.equal((await rules('firewall')).length, ports.length)
  for (const port of ports) await succeeds(chief, 'unpublish', web, '--port', port, ...now)
})

test('addresses are taken, used by a rule, and released', async () => {
  assert.match(
    await succeeds(chief, 'address', 'list'),
    /^ADDRESS +EXTERNAL NETWORK +EDGE GATEWAY +OF +RULES\n203\.0\.113\.10 +office +default +the edge gateway +0\n$/,
  )
  const taken = await succeeds(chief, 'address', 'take', '203.0.113.20')
  assert.equal(taken, '203.0.113.20 of office leads to edge gateway default\n')
  const { address } = JSON.parse(await succeeds(chief, 'address', 'take', '--json')) as {
    address: string
  }
  assert.equal(await succeeds(chief, 'address', 'release', address), `${address} is released\n`)
  const [inside = ''] = (await rowsOf('vm', 'list', '--filter', 'name==web')).map(({ ipAddress }) =>
    String(ipAddress),
  )
  await succeeds(chief, 'nat', 'add', 'one-to-one', '203.0.113.20', inside, ...now)
  assert.match(
    await succeeds(chief, 'nat', 'list'),
    /\n\d+ +one-to-one +any +203\.0\.113\.20 +10\.84\.\S+ +yes\n/,
  )
  assert.match(
    (await chief('address', 'release', '203.0.113.20')).err,
    /\nnext: remove the rules that use it/,
  )
  assert.match((await chief('address', 'release', '203.0.113.10')).err, /edge gateway’s own/)
  assert.match(
    (await chief('address', 'release', '203.0.113.99')).err,
    /\nnext: skerry address list/,
  )
  await succeeds(chief, 'nat', 'rm', String((await rules('nat'))[0]?.['id']), ...now)
  await succeeds(chief, 'address', 'release', '203.0.113.20')
})

const rowsFor = async (run: Run, ...words: readonly string[]) =>
  JSON.parse(await succeeds(run, ...words, '--json')) as Readonly<Record<string, unknown>>[]
const rowsOf = (...words: readonly string[]) => rowsFor(author, ...words)

test('NAT and firewall rules are added, moved and removed, and completed by their ids', async () => {
  await succeeds(chief, 'nat', 'add', 'forward', '203.0.113.10:2222', '10.84.0.50:22', ...now)
  await succeeds(chief, 'nat', 'add', 'snat', '203.0.113.10', '10.84.0.0/24', ...now)
  assert.equal((await chief('nat', 'add', 'bridge', '203.0.113.10', '10.84.0.50')).code, 2)
  assert.equal((await chief('nat', 'add', 'forward', '203.0.113.10', '10.84.0.50')).code, 2)
  const port = ['--port', '2222', '--to', '203.0.113.10', '--description', 'shell']
  await succeeds(chief, 'firewall', 'allow', ...port, ...now)
  await succeeds(chief, 'firewall', 'deny', '--out', '--port', '25', ...now)
  await succeeds(chief, 'firewall', 'allow', '--protocol', 'icmp', '--from', 'external', ...now)
  const ids = async () => (await rules('firewall')).map(({ id }) => String(id))
  const [first = '', second = '', third = ''] = await ids()
  await succeeds(chief, 'firewall', 'move', third, '--before', first, ...now)
  assert.deepEqual(await ids(), [third, first, second])
  await succeeds(chief, 'firewall', 'move', third, '--last', ...now)
  assert.deepEqual(await ids(), [first, second, third])
  const { out, err } = await chief('firewall', 'list')
  assert.match(out, /^RULE +POLICY +DIRECTION +PROTOCOLS +FROM +TO +PORT +ENABLED +DESCRIPTION\n/)
  assert.match(
    out,
    /\n\d+ +allow +in +tcp +any +203\.0\.113\.10 +2222 +yes +shell\n\d+ +deny +out +tcp +any +any +25 +yes/,
  )
  assert.match(err, /otherwise: deny what comes in, allow what goes out/)
  const completed = (await chief('complete', '--', 'firewall', 'rm', '')).out.trim().split('\n')
  assert.ok(completed.includes(second), completed.join())
  assert.deepEqual((await chief('complete', '--', 'address', 'take', '--e')).out, '--edge\n')
  assert.match(
    (await chief('complete', '--', 'address', '')).out,
    /^list\nrelease\ntake\n(.*\n)*web\n/m,
  )
  await succeeds(chief, 'firewall', 'rm', first, second, third, ...now)
  assert.match(
    (await chief('firewall', 'rm', '7')).err,
    /there is no rule 7\nnext: skerry firewall list/,
  )
  assert.equal((await chief('firewall', 'move', '7')).code, 2)
  assert.equal((await chief('firewall', 'allow', '--protocol', 'gre')).code, 2)
  for (const { id } of await rules('nat')) await succeeds(chief, 'nat', 'rm', String(id), ...now)
})

test('ssh uses the published address and port, and names the command that publishes one', async () => {
  await sql`update vm set status = 'POWERED_ON', queue_target = null, host = ${api.cloud.host} where name = 'web'`.execute(
    api.cloud.db,
  )
  const [inside = ''] = (await rowsOf('vm', 'list', '--filter', 'name==web')).map(({ ipAddress }) =>
    String(ipAddress),
  )
  const near = await chief('ssh', web)
  assert.equal(near.programs[0]?.at(-1), `root@${inside}`, 'who reaches the address itself uses it')
  const outside = await as('organisation administrator', { listens: async () => false })
  const far = await outside('ssh', web)
  assert.match(
    far.err,
    /on network default, cannot be reached from here\nnext: skerry publish web --port 22/,
  )
  await succeeds(chief, 'publish', web, '--port', '2022:22', ...now)
  const { programs } = await chief('ssh', web)
  assert.deepEqual(programs[0]?.slice(-3), ['-p', '2022', 'root@203.0.113.10'])
  assert.equal(await succeeds(chief, 'address', web), `${inside}\n`)
})
