// Goal: `skerry` with a cloud's profile controls a VM through its life cycle, as on a laptop. Method: the program itself in
// separate processes, over HTTPS, at real cells with PostgreSQL and Temporal; the hosts are simulated behind the real interface.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { findCommand } from '@skerry/command-line'
import { reasonWithoutRoot, reasonWithoutTemporal } from '@skerry/lab'
import { sql } from 'kysely'

import { commands } from '../../apps/cli/src/commands.ts'
import {
  PASSWORD,
  startSmallCloud,
  untilOpen,
  type SmallCloud,
} from '../../apps/cloud/test/small-cloud.ts'
import { personIn, type Person } from './skerry.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me'

let cloud: SmallCloud
let dir: string
let person: Person
/** Commands that were run. */
const ran = new Set<string>()
before(async () => {
  if (skip !== false) return
  dir = await mkdtemp(join(tmpdir(), 'skerry-cli-'))
  person = personIn(dir)
  cloud = await startSmallCloud({ cells: 1, hosts: 1 })
  await untilOpen(cloud.db, 1)
  await writeFile(join(dir, 'ca.pem'), cloud.ca)
  await writeFile(join(dir, 'key.pub'), KEY)
})
after(async () => {
  await cloud?.[Symbol.asyncDispose]()
  if (dir) await rm(dir, { recursive: true, force: true })
})

const skerry: Person['skerry'] = (words, typed) => {
  ran.add(findCommand(commands, words)[0].name)
  return person.skerry(words, typed)
}
const does: Person['does'] = (...words) => {
  ran.add(findCommand(commands, words)[0].name)
  return person.does(...words)
}

test(
  'login trusts the given CA only, and stores its token readable by its owner alone',
  { skip },
  async () => {
    const base = cloud.cells[0]?.url ?? ''
    const words = ['login', 'lab', base, '--user', 'alice@eng']
    const untrusted = await skerry(words, PASSWORD)
    assert.equal(untrusted.code, 3, untrusted.err)
    assert.match(untrusted.err, /certificate is not trusted .*\nnext: .*--ca FILE/)
    const trusted = await skerry([...words, '--ca', join(dir, 'ca.pem')], `${PASSWORD}\n`)
    assert.equal(trusted.code, 0, trusted.err)
    assert.equal((await stat(join(dir, 'config/skerry/profiles.json'))).mode & 0o777, 0o600)
    assert.match(await does('profiles'), /\n\* +lab +https:\S+ +alice@eng/)
  },
)

test('a VM is created, listed, snapshotted, powered, copied and deleted', { skip }, async () => {
  const made = await does('create', 'web', '--ssh-key', join(dir, 'key.pub'), '--start')
  assert.equal(made, 'web is created and powered on\n')
  assert.match(await does('list'), /\nweb +web +powered on +/)
  const [{ id = '' } = {}] = JSON.parse(await does('list', '--json')) as { id?: string }[]
  const seed = cloud.hosts[0]?.seedOf(id.replace(/^vm-/, '') as never)
  assert.deepEqual(seed, { hostname: 'web', sshKeys: [KEY] })
  assert.match(await does('snapshot', 'create', 'web', 'clean'), /^snapshot clean of web is taken/)
  assert.match(await does('snapshot', 'list', 'web'), /\nclean +\S+ +disk and memory +yes\n/)
  assert.equal(await does('suspend', 'web'), 'web is suspended\n')
  assert.equal(await does('start', 'web'), 'web is powered on\n')
  assert.equal(await does('reset', 'web'), 'web is restarting\n')
  assert.equal(await does('stop', 'web', '--force'), 'web is powered off\n')
  assert.match(
    await does('snapshot', 'revert', 'web', 'clean'),
    /^web is reverted to clean, powered on\n/,
  )
  assert.equal(await does('snapshot', 'rm', 'web', 'clean'), 'snapshot clean is deleted\n')
  assert.equal(await does('stop', 'web', '--force'), 'web is powered off\n')
  assert.equal(await does('set', 'web', '--cpus', '2', '--memory', '128M'), 'web is changed\n')
  assert.match(await does('info', 'web'), /^cpus +2\nmemory +128 MiB$/m)
  assert.equal(await does('label', 'set', 'web', 'role=web'), 'web has role=web\n')
  assert.match(await does('label', 'list', 'web'), /\nrole +web\n/)
  assert.equal(await does('label', 'rm', 'web', 'role'), 'label role of web is removed\n')
  assert.equal(await does('clone', 'web', 'copy'), 'copy is created from web\n')
  assert.match(await does('list'), /\ncopy +copy +powered off +/)
  assert.equal(await does('vapp', 'start', 'copy'), 'vApp copy is turned on\n')
  assert.equal(await does('rm', 'web'), 'web is deleted\n')
  const on = await skerry(['rm', 'copy'])
  assert.deepEqual([on.code, /skerry rm copy --force/.test(on.err)], [1, true])
  assert.equal(await does('rm', 'copy', '--force'), 'copy is deleted\n')
  assert.equal(await does('list', '--quiet'), '')
  assert.equal((JSON.parse(await does('vapp', 'list', '--json')) as object[]).length, 0)
})

test('a task started without waiting can be waited for later', { skip }, async () => {
  const begun = JSON.parse(
    await does('create', 'later', '--cpus', '2', '--start', '--no-wait', '--json'),
  ) as { task: { id: string } }
  assert.match(await does('task', 'wait', begun.task.id), /: done\n$/)
  assert.match(await does('list', '--state', 'powered on'), /\nlater +later +powered on/)
  const tasks = JSON.parse(await does('task', 'list', '--limit', '2', '--json')) as {
    status: string
  }[]
  assert.deepEqual(
    tasks.map(({ status }) => status),
    ['success', 'success'],
  )
  const events = await does('event', 'follow', '--since', '0', '--count', '5')
  assert.equal(events.trim().split('\n').length, 5)
  await does('rm', 'later', '--force')
})

test('a vApp is controlled as a whole', { skip }, async () => {
  await does('create', 'crew', '--start')
  for (const [verb, done] of [
    ['suspend', 'suspended'],
    ['start', 'turned on'],
    ['reset', 'reset'],
    ['reboot', 'rebooted'],
    ['stop', 'shut down'],
    ['start', 'turned on'],
  ] as const) {
    assert.equal(await does('vapp', verb, 'crew'), `vApp crew is ${done}\n`)
  }
  assert.equal(await does('vapp', 'stop', 'crew', '--force'), 'vApp crew is turned off\n')
  assert.equal(await does('vapp', 'clone', 'crew', 'second'), 'second is created from crew\n')
  assert.match(await does('vapp', 'info', 'second'), /^status +POWERED_OFF$/m)
  assert.match(await does('vm', 'info', 'crew/crew'), /^containerName +crew$/m)
  assert.match(await does('vm', 'list', '--quiet'), /^(vm-[0-9a-f-]{36}\n){2}$/)
  assert.equal(await does('vapp', 'rm', 'second'), 'vApp second is deleted\n')
  const [{ id = '' } = {}] = JSON.parse(await does('task', 'list', '--json')) as { id?: string }[]
  assert.match(await does('task', 'info', id), /^status +success$/m)
  assert.equal(await does('task', 'cancel', id), `task ${id} is success\n`, 'it has ended')
  assert.match((await skerry(['pause', 'crew'])).err, /\nnext: skerry suspend crew/)
  assert.match((await skerry(['unpause', 'crew'])).err, /\nnext: skerry start crew/)
  assert.equal(await does('start', 'crew'), 'crew is powered on\n')
  assert.equal(await does('reboot', 'crew'), 'crew is restarting\n')
  assert.match(await does('address', 'crew', '--wait'), /^\d+\.\d+\.\d+\.\d+\n$/)
  assert.match(await does('ssh', 'crew', '--print'), /^ssh .* root@\d+/)
  assert.equal(await does('vapp', 'rm', 'crew', '--force'), 'vApp crew is deleted\n')
})

test('VMs that match a filter are acted on as one task', { skip }, async () => {
  for (const name of ['pair-1', 'pair-2']) await does('create', name, '--start')
  const both = ['--filter', 'name==pair-*', '--expect', '2', '--yes']
  for (const [verb, done] of [
    ['suspend', 'suspended'],
    ['start', 'started'],
    ['reset', 'reset'],
    ['reboot', 'rebooted'],
  ] as const) {
    assert.equal(await does('vm', verb, ...both), `2 VMs are ${done}\n`)
  }
  assert.match(await does('usage', 'pair-1'), /^CPU/im)
  assert.equal(await does('vm', 'stop', '--force', ...both), '2 VMs are turned off\n')
  assert.equal(await does('vm', 'rm', ...both), '2 VMs are deleted\n')
  assert.equal(await does('list', '--quiet'), '')
  assert.equal(await does('ui', '--print'), `${cloud.cells[0]?.url ?? ''}/ui/\n`)
})

test('a cloud without a network server has no networks, and says so', { skip }, async () => {
  assert.equal(await does('network', 'list', '--quiet'), '')
  assert.equal(await does('edge', 'list', '--quiet'), '')
  await does('create', 'still')
  for (const words of [
    ['network', 'create', 'backend', '--range', '192.168.30.0/24'],
    ['network', 'info', 'backend'],
    ['network', 'set', 'backend', '--ipv6', 'yes'],
    ['network', 'rm', 'backend'],
    ['connect', 'still', 'backend'],
    ['disconnect', 'still'],
    ['publish', 'still', '--port', '443'],
    ['unpublish', 'still', '--port', '443'],
    ['edge', 'info'],
    ['edge', 'create', 'shop'],
    ['edge', 'set', 'default', '--name', 'main'],
    ['edge', 'rm', 'shop'],
    ['nat', 'list'],
    ['nat', 'add', 'one-to-one', '203.0.113.7', '10.84.0.10'],
    ['nat', 'rm', '65537'],
    ['firewall', 'list'],
    ['firewall', 'allow', '--port', '443'],
    ['firewall', 'deny', '--port', '25'],
    ['firewall', 'move', '65537', '--last'],
    ['firewall', 'rm', '65537'],
    ['route', 'list'],
    ['route', 'add', '192.168.50.0/24', '10.84.0.9'],
    ['route', 'rm', '192.168.50.0/24'],
    ['address', 'list'],
    ['address', 'take'],
    ['address', 'release', '203.0.113.7'],
  ]) {
    const { code, err } = await skerry(words)
    assert.deepEqual([code, /network|edge gateway/.test(err)], [1, true], err)
  }
  await does('rm', 'still')
})

test('a cloud is administered from any machine', { skip }, async () => {
  await sql`insert into account (org, name, role, password)
    select org, 'root', 'system administrator', password from account`.execute(cloud.db)
  const words = ['login', 'root', cloud.cells[0]?.url ?? '', '--user', 'root@eng']
  const entered = await skerry([...words, '--ca', join(dir, 'ca.pem')], PASSWORD)
  assert.equal(entered.code, 0, entered.err)
  assert.equal(await does('org', 'create', 'red'), 'organisation red is created\n')
  assert.equal(await does('vdc', 'create', 'plot', '--org', 'red'), 'data centre plot is created\n')
  assert.equal(await does('org', 'disable', 'red'), 'organisation red is disabled\n')
  assert.equal(await does('org', 'enable', 'red'), 'organisation red is enabled\n')
  assert.match(await does('org', 'list'), /\nred +yes +1 +/)
  assert.match(await does('org', 'info', 'red'), /^isEnabled +true$/m)
  assert.match(await does('vdc', 'list'), /\nmain +eng +yes +/)
  assert.match(await does('vdc', 'info', 'main'), /^orgName +eng$/m)
  const added = await skerry(['user', 'create', 'rita@red', '--role', 'user'], 'long enough')
  assert.equal(added.out, 'rita@red is created: user\n', added.err)
  await does('role', 'create', 'operator', '--org', 'red', '--rights', 'org:read,vm:read')
  await does('role', 'set', 'operator', '--org', 'red', '--rights', 'vm:read,vm:power')
  assert.match(
    await does('user', 'set', 'rita@red', '--role', 'operator'),
    /rita@red is changed: operator/,
  )
  assert.match(
    await does('role', 'list', '--org', 'red'),
    /\noperator +1 +0 +session vm:read vm:power/,
  )
  const changed = await does('user', 'set', 'rita@red', '--role', 'author')
  await does('role', 'rm', 'operator', '--org', 'red')
  assert.equal(changed, 'rita@red is changed: author\n')
  assert.match(await does('user', 'list', '--org', 'red'), /\nrita@red +author +yes\n$/)
  assert.equal(await does('quota', 'set', 'red', '--vms', '5'), 'the quota of red is changed\n')
  assert.match(await does('quota', 'info', 'red'), /\nVMs +0 +5\n/)
  assert.match(await does('org', 'usage', 'red'), /^FROM +VM H +RUNNING VM H +/)
  assert.equal(await does('host', 'disable', 'host-1'), 'host host-1 is disabled\n')
  assert.match(await does('host', 'info', 'host-1'), /^isEnabled +false$/m)
  assert.equal(await does('host', 'enable', 'host-1'), 'host host-1 is enabled\n')
  assert.match(await does('host', 'list'), /\nhost-1 +\S+ +yes +/)
  const office = ['--range', '203.0.113.0/24', '--uplink', 'office']
  assert.equal(
    await does('external', 'create', 'office', ...office, '--pool', '203.0.113.10-203.0.113.19'),
    'external network office is created\n',
  )
  assert.match(await does('external', 'list'), /\noffice +office +/)
  assert.match(await does('external', 'info', 'office'), /^gateway +203\.0\.113\.1$/m)
  assert.equal(
    await does('external', 'set', 'office', '--dns', '9.9.9.9'),
    'external network office is changed\n',
  )
  assert.equal(await does('external', 'rm', 'office'), 'external network office is deleted\n')
  assert.equal(
    await does('security-group', 'create', 'web', '--label', 'role=web'),
    'security group web is created\n',
  )
  assert.equal(
    await does('security-group', 'allow', 'web', '--protocol', 'tcp', '--port', '443'),
    'security group web has the rule\n',
  )
  assert.match(await does('security-group', 'list'), /\nweb +role=web +/)
  assert.match(await does('security-group', 'info', 'web'), / tcp +443 +/)
  assert.equal(await does('security-group', 'rm', 'web'), 'security group web is deleted\n')
  const events = JSON.parse(await does('event', 'list', '--limit', '2', '--json')) as object[]
  assert.equal(events.length, 2)
  assert.match(await does('template', 'list'), /\nsmall +1 +64 MiB +/)
  assert.equal(await does('logout'), 'root@eng is logged out of root\n')
  assert.equal(await does('use', 'lab'), 'lab is the active profile now\n')
})

test(
  'a token of another machine is listed and revoked, by its owner and by an administrator',
  { skip },
  async () => {
    const NAME = 'skerry on a-lost-laptop'
    const lose = () =>
      sql`insert into access_token (org, account, name, token_hash)
      select org, id, ${NAME}, sha256(${randomUUID()}::text::bytea) from account where name = 'alice'`.execute(
        cloud.db,
      )
    await lose()
    assert.match(await does('token', 'list'), new RegExp(`\\n${NAME} +\\S+ +never +never\\n`))
    assert.equal(await does('token', 'revoke', NAME), `token ${NAME} is revoked\n`)
    const again = await skerry(['token', 'revoke', NAME])
    assert.deepEqual([again.code, again.err.includes('next: skerry token list')], [1, true])
    await lose()
    const words = ['login', 'root', cloud.cells[0]?.url ?? '', '--user', 'root@eng']
    const entered = await skerry([...words, '--ca', join(dir, 'ca.pem')], PASSWORD)
    assert.equal(entered.code, 0, entered.err)
    const ofAlice = ['--user', 'alice@eng']
    const list = JSON.parse(await does('token', 'list', ...ofAlice, '--json')) as { name: string }[]
    assert.ok(list.some(({ name }) => name === NAME))
    assert.equal(await does('token', 'revoke', NAME, ...ofAlice), `token ${NAME} is revoked\n`)
    assert.ok(!(await does('token', 'list', ...ofAlice)).includes(NAME))
    assert.equal(await does('logout'), 'root@eng is logged out of root\n')
    assert.equal(await does('use', 'lab'), 'lab is the active profile now\n')
  },
)

test('after a logout the stored token is invalid', { skip }, async () => {
  assert.equal(await does('logout'), 'alice@eng is logged out of lab\n')
  assert.match(await does('profiles'), /^ACTIVE +NAME +ADDRESS +USER +WORKFLOWS\n\* +local +/)
  const { code, err } = await skerry(['list', '--on', 'lab'])
  assert.deepEqual(
    [code, /there is no profile lab\nnext: skerry login lab URL/.test(err)],
    [1, true],
  )
})

test('every command for clouds was run', { skip }, () => {
  // With real consoles, catalogs and images: tests/accept/cli-cloud.test.ts. With a directory: tests/accept/identity.test.ts. With
  // messages through the egress: tests/webhooks/guide.test.ts. With files that were changed: tests/cloud/event-export.test.ts. With an app
  // that makes codes: apps/cloud/test/cli-second-factor.test.ts. With a group: apps/cloud/test/cli-access.test.ts.
  const ofDirectories = ['create', 'list', 'rm', 'set', 'test'].map((verb) => `identity ${verb}`)
  const ofWebhooks = ['create', 'info', 'list', 'resend', 'rm', 'set', 'test'].map(
    (verb) => `webhook ${verb}`,
  )
  const elsewhere = [
    'console',
    'template import',
    'template info',
    'catalog list',
    'catalog info',
    'event export',
    'event verify',
    ...['add', 'list', 'rm', 'recovery-codes'].map((verb) => `second-factor ${verb}`),
    ...['list', 'rm', 'set'].map((verb) => `access ${verb}`),
    'org set',
    ...ofDirectories,
    ...ofWebhooks,
  ]
  const left = commands
    .filter(({ asks = 'cloud' }) => asks === 'cloud')
    .map(({ name }) => name)
    .filter((name) => !ran.has(name) && !name.startsWith('workflow '))
  assert.deepEqual(left.sort(), elsewhere.sort())
})
