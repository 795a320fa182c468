// Goal: a cloud is administered with `skerry` from any machine. Method: as cli.test.ts, with all roles.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { sql } from 'kysely'

import type { Profile } from '../../cli/src/profiles/profiles.ts'
import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import { openZone, projectAll } from './open-zone.ts'
import { openTenantsApi, type TenantsApi } from './tenants-api.ts'

type Role = Parameters<TenantsApi['enter']>[1]
type Run = (...words: readonly string[]) => ReturnType<typeof skerry>

let api: TenantsApi
let author: Run
let chief: Run
let system: Run
before(async () => {
  api = await openTenantsApi()
  author = await as('author')
  chief = await as('organisation administrator')
  system = await as('system administrator')
})
after(() => api[Symbol.asyncDispose]())

async function as(role: Role, secret = ''): Promise<Run> {
  const token = await api.enter(api.eng.org, role)
  const work: Profile = { url: `http://127.0.0.1:${api.port}`, user: 'alice@eng', token }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  return (...words) =>
    skerry('http://127.0.0.1:9', words, { profiles, readSecret: async () => secret })
}

const rowsOf = async (run: Run, ...words: readonly string[]) => {
  const { code, out, err } = await run(...words, '--json')
  assert.equal(code, 0, `${words.join(' ')}: ${err}`)
  return JSON.parse(out) as Readonly<Record<string, unknown>>[]
}

test('every kind of resource has a table, JSON with an id, and a view of its details', async () => {
  for (const [word, head, name] of [
    ['org', /^NAME +ENABLED +VDCS +CATALOGS +VAPPS +VMS +RUNNING +ID\n/, 'eng'],
    ['vdc', /^NAME +ORG +ENABLED +VAPPS +VMS +ID\n/, 'centre'],
    ['catalog', /^NAME +ORG +TEMPLATES +CREATED +ID\n/, 'main'],
    ['network', /^NAME +GATEWAY +NETMASK +IPV6 +REACHES +USED +ADDRESSES +VDC +ID\n/, 'lab'],
    ['vapp', /^NAME +STATE +VMS +VDC +OWNER +CREATED +ID\n/, 'first'],
    ['vm', /^NAME +VAPP +STATE +ADDRESS +CPUS +MEMORY +DISK +ORG +HOST +ID\n/, 'debian'],
  ] as const) {
    assert.match((await author(word, 'list')).out, head)
    const rows = await rowsOf(author, word, 'list')
    assert.ok(
      rows.some((row) => row['name'] === name && row['id'] !== ''),
      word,
    )
    const shown = await author(word, 'info', name)
    assert.match(shown.out, new RegExp(`^name +${name}$`, 'm'), shown.err)
    const quiet = await author(word, 'list', '--quiet', '--limit', '1')
    assert.match(quiet.out, /^\S*[0-9a-f-]{36}\n$/)
    const byId = await author(word, 'info', quiet.out.trim())
    assert.equal(byId.code, 0, `${word} info ${quiet.out}: ${byId.err}`)
  }
  const templates = await author('template', 'list')
  assert.match(templates.out, /^NAME +CPUS +MEMORY +DISK\ndebian +1 +64 MiB +64 MiB\n$/)
  assert.equal((await author('template', 'info', 'debian')).code, 0)
  assert.equal(
    (await author('vdc', 'list', '--all')).code,
    2,
    '--all is rejected for kinds without such a list',
  )
  const wrong = await author('vapp', 'list', '--filter', 'nonsense==1')
  assert.equal(wrong.code, 1)
  assert.match(
    (await author('vdc', 'info', 'nowhere')).err,
    /there is no data centre nowhere\nnext: skerry vdc list/,
  )
})

test('hosts are listed, enabled and disabled by system administrators only', async () => {
  const hosts = await rowsOf(system, 'host', 'list')
  assert.deepEqual([hosts[0]?.['name'], hosts[0]?.['isEnabled']], ['host-1', true])
  assert.equal((await system('host', 'disable', 'host-1')).out, 'host host-1 is disabled\n')
  assert.equal((await rowsOf(system, 'host', 'list', '--filter', 'isEnabled==false')).length, 1)
  assert.equal((await system('host', 'enable', String(hosts[0]?.['id']))).code, 0)
  const again = await system('host', 'enable', 'host-1')
  assert.match(
    again.err,
    /host host-1 cannot be enabled now\nnext: check its state: skerry host list/,
  )
  const refused = await author('host', 'list')
  assert.equal(refused.code, 1)
  assert.match(refused.err, /\nnext: ask an administrator of your organisation/)
})

test('users are created, changed and listed by the administrators of their organisation', async () => {
  const adds = await as('organisation administrator', 'long enough')
  const made = await adds('user', 'create', 'rita', '--role', 'user')
  assert.deepEqual([made.code, made.out], [0, 'rita@eng is created: user\n'], made.err)
  const set = await adds('user', 'set', 'rita@eng', '--role', 'author', '--disable', '--password')
  assert.equal(set.out, 'rita@eng is changed: author\n', set.err)
  const users = await rowsOf(chief, 'user', 'list')
  assert.deepEqual(
    users.find(({ name }) => name === 'rita'),
    { name: 'rita', org: 'eng', role: 'author', enabled: false },
  )
  assert.match((await chief('user', 'list')).out, /\nrita@eng +author +no\n/)
  assert.equal((await chief('user', 'set', 'rita', '--enable')).code, 0)
  assert.match(
    (await chief('user', 'set', 'nobody', '--enable')).err,
    /no user nobody@eng\nnext: skerry user list/,
  )
  assert.equal((await chief('user', 'set', 'rita')).code, 2)
  assert.equal((await chief('user', 'set', 'rita', '--enable', '--disable')).code, 2)
  assert.equal((await author('user', 'list')).code, 1)
})

test('roles of the organisation are created, given, changed and removed by its administrators', async () => {
  const made = await chief('role', 'create', 'operator', '--rights', 'org:read,vm:read,vm:power')
  assert.deepEqual(
    [made.code, made.out],
    [0, 'role operator is created: session org:read vm:read vm:power\n'],
    made.err,
  )
  const adds = await as('organisation administrator', 'long enough')
  assert.equal((await adds('user', 'create', 'omar', '--role', 'operator')).code, 0)
  assert.deepEqual(await rowsOf(chief, 'role', 'list'), [
    { name: 'lab', rights: ['session', 'org:read', 'vm:read'], users: 0, groups: 0 },
    {
      name: 'operator',
      rights: ['session', 'org:read', 'vm:read', 'vm:power'],
      users: 1,
      groups: 0,
    },
  ])
  const set = await chief('role', 'set', 'operator', '--rights', 'vm:read', '--json')
  assert.deepEqual((JSON.parse(set.out) as { rights: unknown }).rights, ['session', 'vm:read'])
  assert.match((await chief('role', 'list')).out, /\noperator +1 +0 +session vm:read\n/)
  const used = await chief('role', 'rm', 'operator')
  assert.equal(used.code, 1)
  assert.match(used.err, /role operator is in use: users 1, groups 0/)
  assert.equal((await chief('user', 'set', 'omar', '--role', 'user')).code, 0)
  assert.equal((await chief('role', 'rm', 'operator')).out, 'role operator is removed\n')
  assert.equal((await chief('role', 'create', 'empty')).code, 2)
  assert.equal((await chief('role', 'create', 'fast', '--rights', 'vm:fly')).code, 1)
  assert.equal((await author('role', 'list')).code, 1)
})

test('tokens are listed and revoked by their owner and by administrators', async () => {
  const make = (name: string) =>
    api.ask('POST', '/api/session/tokens', {
      token: api.eng.token,
      body: `<AccessTokenParams name="${name}"/>`,
    })
  assert.equal((await make('nightly')).status, 201)
  const work: Profile = {
    url: `http://127.0.0.1:${api.port}`,
    user: 'alice@eng',
    token: api.eng.token,
  }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  const alice: Run = (...words) => skerry('http://127.0.0.1:9', words, { profiles })
  const table = await alice('token', 'list')
  assert.match(
    table.out,
    /^NAME +CREATED +LAST USED +EXPIRES\n(.*\n)*nightly +\S+ +never +never\n/,
    table.err,
  )
  const rows = await rowsOf(chief, 'token', 'list', '--user', 'alice')
  assert.ok(rows.some(({ name }) => name === 'nightly'))
  const gone = await chief('token', 'revoke', 'nightly', '--user', 'alice@eng')
  assert.deepEqual([gone.code, gone.out], [0, 'token nightly is revoked\n'], gone.err)
  assert.equal((await make('nightly')).status, 201)
  assert.equal((await alice('token', 'revoke', 'nightly')).code, 0)
  assert.match(
    (await alice('token', 'revoke', 'nightly')).err,
    /no token nightly\nnext: skerry token list/,
  )
  assert.equal((await author('token', 'list', '--user', 'alice')).code, 1)
})

test('organisations, data centres and quotas are created and changed by system administrators', async () => {
  assert.equal((await system('org', 'create', 'red')).out, 'organisation red is created\n')
  assert.equal(
    (await system('vdc', 'create', 'main', '--org', 'red')).out,
    'data centre main is created\n',
  )
  assert.equal((await system('org', 'disable', 'red')).out, 'organisation red is disabled\n')
  assert.equal((await system('org', 'enable', 'red')).code, 0)
  const set = await system('quota', 'set', 'eng', '--vms', '20', '--memory', '64G')
  assert.deepEqual([set.code, set.out], [0, 'the quota of eng is changed\n'], set.err)
  assert.equal((await system('quota', 'set', 'eng', '--cpus', '8', '--vms', 'none')).code, 0)
  const { out } = await chief('quota', 'info')
  assert.match(out, /^RESOURCE +USED +LIMIT\nVMs +\d+ +none\nrunning VMs +\d+ +none\n/)
  assert.match(
    out,
    /\nCPUs +\d+ +8\nmemory +\d+ [MG]iB +64 GiB\nstorage +\d+ [MG]iB +none\nnetworks +\d+ +none\nedge gateways +\d+ +none\nexternal addresses +\d+ +none\n$/,
  )
  const json = JSON.parse((await chief('quota', 'info', 'eng', '--json')).out) as Record<
    string,
    object
  >
  assert.deepEqual(json['cpus'], { used: 1, most: 8 })
  assert.equal((await system('quota', 'set', 'eng', '--cpus', 'none', '--memory', 'none')).code, 0)
  assert.equal((await author('quota', 'info')).code, 1)
})

test('tasks are listed, shown and canceled, and events can be queried', async () => {
  const [vm = ''] = (await api.cloud.addVms(1)).vms
  assert.equal((await author('start', `vm-${vm}`, '--no-wait')).code, 0)
  const tasks = await rowsOf(author, 'task', 'list', '--filter', 'status==queued')
  const [{ id } = {}] = tasks
  const word = String(id)
  assert.match((await author('task', 'info', word)).out, /^status +\w+$/m)
  assert.equal((await author('task', 'cancel', word)).out, `task ${word} is canceled\n`)
  const over = await author('task', 'wait', word)
  assert.deepEqual([over.code, /the task was canceled\nnext: /.test(over.err)], [1, true])
  assert.match(
    (await author('task', 'info', 'web')).err,
    /is not a task id\nnext: skerry task list/,
  )
  const events = await author('event', 'list', '--limit', '3')
  assert.match(events.out, /^AT +TYPE +RESOURCE +BY +FROM +ORG\n/)
  assert.equal((await rowsOf(author, 'event', 'list', '--limit', '3')).length, 3)
})

test('vApps are powered on and off as a whole', async () => {
  const off = await author('vapp', 'start', 'first', '--no-wait')
  assert.equal(off.code, 0, off.err)
  const refused = await author('vapp', 'reset', 'nothing')
  assert.match(refused.err, /there is no vApp nothing\nnext: skerry vapp list/)
})

test('the shell completes resource names at the position of the cursor', async () => {
  const completed = async (...words: readonly string[]) =>
    (await author('complete', '--', ...words)).out.split('\n').slice(0, -1)
  assert.deepEqual(await completed('start', 'deb'), ['debian'])
  assert.deepEqual(await completed('vapp', 'start', 'f'), ['first'])
  assert.deepEqual(await completed('create', 'x', '--template', ''), ['debian'])
  assert.deepEqual(await completed('create', 'x', '--vdc', 'c'), ['centre'])
  assert.deepEqual(await completed('use', ''), ['local', 'work'])
  assert.deepEqual(await completed('list', '--on', 'w'), ['work'])
  assert.deepEqual(await completed('start', '--on', 'local', ''), [], 'no vmd answers')
  assert.deepEqual(await completed('start', '--on', 'nothing', ''), [])
  const users = (await chief('complete', '--', 'user', 'set', 'al')).out
  assert.equal(users, 'alice\n')
  assert.deepEqual(await completed('user', 'set', 'al'), [], 'only administrators see users')
  assert.deepEqual(await completed('org', ''), [
    'create',
    'disable',
    'enable',
    'info',
    'list',
    'set',
    'usage',
  ])
})

test('what a VM used is a table with bars, or the series as JSON', async () => {
  const [vm] = (await api.cloud.addVms(1, 'POWERED_ON')).vms
  const table = await author('usage', `vm-${vm}`)
  assert.match(table.out, /^USE +NOW +MEAN +MOST +LAST 60 MINUTES\nCPU +12 % +12 % +12 % +▁\n/)
  const { out } = await author('usage', `vm-${vm}`, '--step', '15', '--json')
  const { step, cpuPercent } = JSON.parse(out) as { step: number; cpuPercent: unknown[] }
  assert.deepEqual([step, cpuPercent.length, cpuPercent.slice(-2)], [15, 240, [null, 12]])
  api.screens.away = true
  const away = await author('usage', `vm-${vm}`)
  api.screens.away = false
  assert.notEqual(away.code, 0)
  assert.match(away.err, /does not answer/)
})

test('networks are created and deleted by administrators of the organisation, and VMs are created on them', async () => {
  const zone = await openZone(api.cloud.db, api.cloud.host)
  const wanted = ['network', 'create', 'backend', '--range', '192.168.30.0/24', '--vdc', 'centre']
  const made = await chief(...wanted, '--dns', '192.168.30.2', '--no-wait')
  assert.equal(made.code, 0, made.err)
  await projectAll(api.cloud.db, zone)
  const [row] = await rowsOf(author, 'network', 'list', '--filter', 'name==backend')
  assert.deepEqual(
    [row?.['defaultGateway'], row?.['netmask'], row?.['totalIpCount'], row?.['dns1']],
    ['192.168.30.1', '255.255.255.0', 253, '192.168.30.2'],
  )
  assert.equal((await author(...wanted, '--no-wait')).code, 1, 'authors lack the right')
  assert.match((await chief('network', 'create', 'x')).err, /--range 192\.168\.10\.0\/24/)
  for (const range of ['10.0.0.0', '10.0.0.0/33', '10.0.0.256/24', '010.0.0.0/24']) {
    assert.equal((await chief('network', 'create', 'x', '--range', range)).code, 2, range)
  }
  const vm = ['create', 'db', '--vdc', 'centre', '--template', 'debian', '--no-wait']
  const created = await author(...vm, '--network', 'backend')
  assert.equal(created.code, 0, created.err)
  const [shown] = await rowsOf(author, 'vm', 'list', '--filter', 'networkName==backend')
  assert.match(String(shown?.['ipAddress']), /^192\.168\.30\.\d+$/)
  assert.match((await chief('network', 'rm', 'backend', '--no-wait')).err, /VM db is on network/)
  const gone = await chief('network', 'rm', 'lab', '--no-wait')
  assert.match(gone.out, /^network lab: task \S+ is running\n$/)
  await sql`update host set overlay = 'none'`.execute(api.cloud.db)
})

test('a security group is made, gets rules and loses them, by an administrator of the organisation only', async () => {
  const made = await chief('security-group', 'create', 'web', '--label', 'role=web')
  assert.equal(made.code, 0, made.err)
  const allow = (...words: readonly string[]) => chief('security-group', 'allow', 'web', ...words)
  const tcp = await allow('--protocol', 'tcp', '--port', '8000-8100', '--peer', '10.1.0.0/16')
  assert.equal(tcp.out, 'security group web has the rule\n', tcp.err)
  assert.equal((await allow('--protocol', 'icmp', '--peer', 'web')).code, 0)
  assert.equal((await allow('--out')).code, 0)
  const { out } = await author('security-group', 'info', 'web')
  assert.match(out, /^web: VMs with role=web accept and send only what a rule allows\n/)
  assert.match(out, /^ +1 +in +tcp +8000-8100 +10\.1\.0\.0\/16$/m)
  assert.match(out, /^ +2 +in +icmp +all +web$/m)
  assert.match(out, /^ +3 +out +any +all +anybody$/m)
  assert.match(out, /^VMs: none$/m)
  const listed = await author('security-group', 'list', '--filter', 'name==web')
  assert.match(
    listed.out,
    /^NAME +LABELS +INBOUND +OUTBOUND +RULES +VMS +ID\nweb +role=web +yes +yes +3 +0 /,
  )
  assert.equal((await author('security-group', 'allow', 'web')).code, 1, 'without the right')
  assert.match((await allow('--port', '80')).err, /only tcp and udp have a PortRange/)
  assert.match((await allow('--peer', 'nobody')).err, /there is no security group nobody/)
  assert.match(
    (await allow('--peer', '10.1.0.0/33')).err,
    /there is no security group 10\.1\.0\.0\/33\nnext: .*written like 10\.0\.0\.0\/8/,
  )
  assert.equal((await chief('security-group', 'rm', 'web', '--rule', '1')).code, 0)
  assert.match((await chief('security-group', 'rm', 'web', '--rule', '3')).err, /has no rule 3/)
  const group = JSON.parse((await chief('security-group', 'info', 'web', '--json')).out) as {
    readonly rules: readonly { readonly protocol: string }[]
  }
  assert.deepEqual(
    group.rules.map(({ protocol }) => protocol),
    ['icmp', 'any'],
  )
  const removed = await chief('security-group', 'rm', 'web')
  assert.equal(removed.out, 'security group web is deleted\n', removed.err)
})

test('labels of a VM are set, listed and removed, and put it into a security group', async () => {
  assert.equal((await chief('security-group', 'create', 'front', '--label', 'role=front')).code, 0)
  const set = await author('label', 'set', 'debian', 'role=front', 'stage=live=yes')
  assert.equal(set.out, 'debian has role=front and stage=live=yes\n', set.err)
  assert.match(
    (await author('label', 'list', 'debian')).out,
    /^KEY +VALUE\nrole +front\nstage +live=yes\n$/,
  )
  assert.match((await author('security-group', 'info', 'front')).out, /^VMs: debian$/m)
  await author('label', 'set', 'debian', 'role=back')
  assert.match((await author('security-group', 'info', 'front')).out, /^VMs: none$/m)
  const left = await author('label', 'rm', 'debian', 'role', '--json')
  assert.deepEqual(JSON.parse(left.out), [{ key: 'stage', value: 'live=yes' }])
  assert.match(
    (await author('label', 'rm', 'debian', 'stage', 'role')).err,
    /debian has no label role\nnext: skerry label list debian/,
  )
  const removed = await author('label', 'rm', 'debian', 'stage')
  assert.equal(removed.out, 'label stage of debian is removed\n', removed.err)
  assert.equal((await author('label', 'set', 'debian', 'role')).code, 2)
  const reader = await as('user')
  assert.equal((await reader('label', 'list', 'debian')).code, 0)
  await chief('security-group', 'rm', 'front')
})
