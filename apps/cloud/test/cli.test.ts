// Goal: a user does with `skerry` in a cloud what the API offers. Method: the command line against the tenant API on a real
// PostgreSQL; the test ends queued tasks in the tables, as workers would. See also tests/cloud/cli.test.ts, with workers.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { sql } from 'kysely'

import type { Profile, ProfileStore } from '../../cli/src/profiles/profiles.ts'
import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import { openTenantsApi, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const NOWHERE = 'http://127.0.0.1:9'
const url = () => `http://127.0.0.1:${api.port}`
const alice = (): Profile => ({ url: url(), user: 'alice@eng', token: api.eng.token, vdc: 'main' })

const at = (profile: Profile, more: Parameters<typeof skerry>[2] = {}) => {
  const profiles = keptProfiles({ active: 'work', clouds: { work: profile } })
  return (...words: readonly string[]) => skerry(NOWHERE, words, { profiles, ...more })
}
const run = (...words: readonly string[]) => at(alice())(...words)

/** The same as a user of this role. */
const as = async (role: Parameters<TenantsApi['enter']>[1]) =>
  at({ ...alice(), token: await api.enter(api.eng.org, role) })

/** Ends all queued tasks, as workers would that have nothing to do. */
const endAll = async (state = 'success', message: string | null = null) => {
  await sql`update task set state = ${state}, message = ${message}, progress = 100,
    fault = ${state === 'error' ? 'no-room' : null}, ended_at = clock_timestamp()
    where state in ('queued', 'running')`.execute(api.cloud.db)
  await sql`update vm set queue_target = null`.execute(api.cloud.db)
}

/** For a command that waits: queued tasks end when it polls a second time. */
const ending = (state?: string, message?: string) =>
  at(alice(), { wait: async () => endAll(state, message) })

/** A vApp of this name with a VM of this name. */
async function addVm(name: string, status: 'POWERED_ON' | 'POWERED_OFF' = 'POWERED_OFF') {
  const { vapp, vms } = await api.cloud.addVms(1, status)
  await sql`update vapp set name = ${name} where id = ${vapp}`.execute(api.cloud.db)
  await sql`update vm set name = ${name} where vapp = ${vapp}`.execute(api.cloud.db)
  return { vapp, id: vms[0] ?? '' }
}

const logInAs = (profiles: ProfileStore, password: string, ...words: readonly string[]) =>
  skerry(NOWHERE, ['login', ...words], { profiles, readSecret: async () => password })

test('login stores an API token, a second login replaces it, and logout revokes it', async () => {
  const profiles = keptProfiles()
  const wrong = await logInAs(profiles, 'wrong', 'work', url(), '--user', 'alice@eng')
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /\nnext: check USER@ORG and the password/)
  const first = await logInAs(profiles, 'secret', 'work', url(), '--user', 'alice@eng')
  assert.deepEqual(
    [first.code, first.out],
    [0, 'alice@eng is logged in to work, now the active profile\n'],
    first.err,
  )
  const { active, clouds } = await profiles.read()
  assert.equal(active, 'work')
  const token = clouds['work']?.token ?? ''
  assert.match(token, /^skat_/)
  const list = () => skerry(NOWHERE, ['list', '--json'], { profiles })
  assert.equal((await list()).code, 0)
  const again = await logInAs(profiles, 'secret', 'work')
  assert.equal(again.code, 0, again.err)
  const old = await at({ ...alice(), token })('list')
  assert.deepEqual([old.code, /\nnext: log in again: skerry login work/.test(old.err)], [1, true])
  const shown = await skerry(NOWHERE, ['profiles', '--json'], { profiles })
  assert.deepEqual(
    (JSON.parse(shown.out) as { name: string; active: boolean }[]).map((each) => [
      each.name,
      each.active,
    ]),
    [
      ['local', false],
      ['work', true],
    ],
  )
  assert.ok(!shown.out.includes('skat_'), 'a token is never shown')
  const last = (await profiles.read()).clouds['work']
  const out = await skerry(NOWHERE, ['logout'], { profiles })
  assert.deepEqual([out.code, out.out], [0, 'alice@eng is logged out of work\n'], out.err)
  assert.deepEqual(await profiles.read(), { active: 'local', clouds: {} })
  assert.equal((await at(last ?? alice())('list')).code, 1)
  const names = (await api.ask('GET', '/api/session/tokens', { token: api.eng.token })).text
  assert.ok(!names.includes('skerry on my-laptop'), 'and no token remains')
})

test('an existing session or token can be used to log in', async () => {
  const profiles = keptProfiles()
  const short = await logInAs(profiles, 'secret', 'a', url(), '--user', 'alice@eng', '--session')
  assert.equal(short.code, 0, short.err)
  const { token = '' } = (await profiles.read()).clouds['a'] ?? {}
  assert.ok(!token.startsWith('skat_'))
  const given = await logInAs(profiles, api.eng.token, 'b', url(), '--token-stdin')
  assert.equal(given.out, 'alice@eng is logged in to b, now the active profile\n')
  const used = await skerry(NOWHERE, ['use', 'a'], { profiles })
  assert.deepEqual([used.code, (await profiles.read()).active], [0, 'a'])
  const on = await skerry(NOWHERE, ['list', '--on', 'b', '--quiet'], { profiles })
  assert.match(on.out, /^vm-[0-9a-f-]{36}\n/)
})

test('an unreachable cloud and invalid login options are reported with the next step', async () => {
  const away = await logInAs(keptProfiles(), 'x', 'work', NOWHERE, '--user', 'alice@eng')
  assert.equal(away.code, 3)
  assert.match(away.err, /cannot be reached: .*\nnext: check the address/)
  const plain = await logInAs(keptProfiles(), 'x', 'work', 'http://cloud.example', '--user', 'a@b')
  assert.deepEqual([plain.code, /must be like https:\/\/cloud\.example/.test(plain.err)], [2, true])
  const nobody = await logInAs(keptProfiles(), 'x', 'work', url(), '--session')
  assert.match(nobody.err, /no user given\nnext: give --user USER@ORG/)
})

test('VMs are listed, filtered and shown with the same words as on this machine', async () => {
  const { id } = await addVm('listed', 'POWERED_ON')
  const table = (await run('list', '--state', 'powered on', '--filter', 'name==list*')).out
  assert.match(table, /^NAME +VAPP +STATE +ADDRESS +CPUS +MEMORY +DISK +ID\n/)
  assert.match(
    table,
    new RegExp(`\\nlisted +listed +powered on +- +1 +64 MiB +64 MiB +vm-${id}\\n$`),
  )
  const rows = JSON.parse((await run('list', '--json')).out) as { name: string; state: string }[]
  assert.ok(rows.some(({ name, state }) => name === 'listed' && state === 'powered on'))
  const info = await run('info', 'listed')
  assert.match(info.out, /^name +listed\nvapp +listed\nstate +powered on\n/)
  const json = JSON.parse((await run('info', `vm-${id}`, '--json')).out) as { id: string }
  assert.equal(json.id, `vm-${id}`)
  const nothing = await run('list', '--filter', 'name==nothing')
  assert.deepEqual([nothing.code, nothing.err], [0, ''])
  const tag = await run('list', '--tag', 'x')
  assert.deepEqual([tag.code, /a cloud has no tags/.test(tag.err)], [1, true])
  const foreign = await run('list', '--all')
  assert.deepEqual([foreign.code, /right cloud:read|cloud:read/.test(foreign.err)], [1, true])
  const everything = await (await as('system administrator'))('list', '--all', '--json')
  const orgs = (JSON.parse(everything.out) as { org: string }[]).map(({ org }) => org)
  assert.deepEqual([...new Set(orgs)].sort(), ['eng', 'ops'])
})

test('an ambiguous VM name is reported with names that are unique', async () => {
  for (const vapp of ['left', 'right']) {
    const { id } = await addVm(vapp)
    await sql`update vm set name = 'twin' where id = ${id}`.execute(api.cloud.db)
  }
  const twin = await run('info', 'twin')
  assert.equal(twin.code, 1)
  assert.match(twin.err, /several VMs match twin\nnext: use one of: /)
  assert.match(twin.err, /: left\/twin, right\/twin\n$|: right\/twin, left\/twin\n$/)
  assert.match((await run('info', 'right/twin')).out, /^name +twin\nvapp +right\n/)
  const { vapp } = await api.cloud.addVms(2)
  await sql`update vapp set name = 'pair' where id = ${vapp}`.execute(api.cloud.db)
  assert.match((await run('info', 'pair')).err, /use one of: pair\/vm-\d, pair\/vm-\d\n/)
  const none = await run('info', 'nothing')
  assert.match(none.err, /there is no VM nothing\nnext: skerry list/)
  const foreign = await run('info', `vapp-${vapp}`)
  assert.match(foreign.err, /there is no VM vapp-\S+\nnext: skerry list/)
  const vm = await run('info', 'first')
  assert.match(vm.out, /^name +debian\nvapp +first\n/, 'its only VM is found by its vApp')
})

test('create makes a vApp with one VM, with keys and sizes, and waits for its task', async () => {
  const made = await ending()('create', 'web', '--cpus', '2', '--memory', '128M', '--start')
  assert.equal(made.code, 0, made.err)
  assert.match(made.out, /^web is created and being created\n$/, 'no worker has created it')
  const { rows } = await sql<{ operation: string }>`select operation from task
    join vapp on vapp.id = task.vapp where vapp.name = 'web' and operation <> 'create' order by task.created_at`.execute(
    api.cloud.db,
  )
  assert.deepEqual(
    rows.map(({ operation }) => operation),
    ['compose', 'reconfigureVm', 'powerOn'],
  )
  const later = await run('create', 'later', '--no-wait', '--json')
  const { task } = JSON.parse(later.out) as { task: { id: string } }
  const reported = await run('task', 'info', task.id)
  assert.match(reported.out, /^of +later$/m)
  const here = await run('create', 'x', '--bridge', 'br0')
  assert.deepEqual([here.code, /--bridge is for VMs of this machine/.test(here.err)], [1, true])
  const where = await at({ ...alice(), vdc: 'nowhere' })('create', 'x')
  assert.match(where.err, /there is no data centre nowhere\nnext: skerry vdc list/)
  const { vdc: _, ...loose } = alice()
  assert.match((await at(loose)('create', 'x')).err, /choose one with --vdc: centre, main/)
  await endAll()
})

test('a power command waits for its task to end, or returns at once', async () => {
  const { id } = await addVm('powered')
  const on = await ending()('start', 'powered', '--json')
  const { vm, task } = JSON.parse(on.out) as { vm: string; task: { status: string } }
  assert.deepEqual([on.code, vm, task.status], [0, `vm-${id}`, 'success'], on.err)
  const quick = await run('start', 'powered', '--no-wait')
  assert.equal(quick.code, 0, quick.err)
  assert.match(quick.out, /^powered: task [0-9a-f-]{36} is running\n$/)
  assert.match(quick.err, /^next: skerry task wait [0-9a-f-]{36}\n$/)
  await endAll()
  const refused = await ending('error', 'no host has room')('start', 'powered')
  assert.equal(refused.code, 1)
  assert.match(
    refused.err,
    /^skerry: no host has room\nnext: an administrator can check the free capacity/,
  )
  const off = await run('suspend', 'powered')
  assert.match(
    off.err,
    /powered is powered off, and cannot be suspended now\nnext: skerry info powered/,
  )
  assert.match((await run('stop', 'powered', '--force')).out, /^powered is powered off\n$/)
  assert.match(
    (await run('pause', 'powered')).err,
    /does not pause VMs\nnext: skerry suspend powered/,
  )
  assert.match((await run('unpause', 'powered')).err, /next: skerry start powered/)
  const both = await run('start', 'powered', '--wait', '--no-wait')
  assert.equal(both.code, 2)
  await addVm('running', 'POWERED_ON')
  for (const verb of ['reset', 'reboot', 'suspend', 'stop']) {
    const done = await ending()(verb, 'running')
    assert.equal(done.code, 0, `${verb}: ${done.err}`)
  }
})

test('the progress of a task is shown on the terminal while it runs', async () => {
  await addVm('slow')
  let drawn = ''
  const slow = at(alice(), {
    screen: { columns: 80, write: (text) => void (drawn += text) },
    wait: async () => {
      await sleep(5)
      await sql`update task set progress = 60 where state = 'queued'`.execute(api.cloud.db)
      // It runs until the progress bar was seen.
      if (drawn.includes(' 60 %')) await endAll()
    },
  })
  const { code, err } = await slow('start', 'slow')
  assert.equal(code, 0, err)
  assert.match(drawn, /starting slow {2}\[#{14}\.{10}\] 60 %/)
})

test('an interrupted wait prints that the task continues, and how to follow it again', async () => {
  await addVm('long')
  let interrupt = (): void => undefined
  const impatient = at(alice(), {
    onInterrupt: (hear) => {
      interrupt = hear
      return () => undefined
    },
    wait: async () => interrupt(),
  })
  const { code, err } = await impatient('start', 'long')
  assert.equal(code, 4)
  assert.match(err, /task \S+ continues\nnext: skerry task wait \S+; skerry task cancel /)
  const { rows } = await sql<{ state: string; cancel: boolean }>`
    select task.state, cancel_requested as cancel from task
    join vm on vm.id = task.vm where vm.name = 'long'`.execute(api.cloud.db)
  assert.deepEqual(rows, [{ state: 'queued', cancel: false }])
  await endAll()
})

test('rm deletes the vApp with its last VM, and requires --force while the VM is on', async () => {
  await addVm('going', 'POWERED_ON')
  const on = await run('rm', 'going')
  assert.match(on.err, /cannot be deleted now\nnext: skerry stop going, or skerry rm going --force/)
  await addVm('gone')
  const gone = await ending()('rm', 'gone')
  assert.deepEqual([gone.code, gone.out], [0, 'gone is deleted\n'], gone.err)
  const { rows } = await sql<{ vm: string | null }>`select task.vm from task
    join vapp on vapp.id = task.vapp where vapp.name = 'gone' and task.parent is null`.execute(
    api.cloud.db,
  )
  assert.deepEqual(rows, [{ vm: null }], 'the task is the vApp’s')
  await addVm('leaving')
  const begun = await run('rm', 'leaving', '--no-wait', '--json')
  const { deleted, tasks } = JSON.parse(begun.out) as { deleted: string[]; tasks: object[] }
  assert.deepEqual([deleted.length, tasks.length], [0, 1], 'it is not deleted yet')
  await endAll()
})

test('snapshots: one per VM, by its name', async () => {
  const { id } = await addVm('kept')
  assert.match((await run('snapshot', 'revert', 'kept', 'a')).err, /has no snapshot a: it has none/)
  assert.equal((await ending()('snapshot', 'create', 'kept', 'a', '--disk-only')).code, 0)
  await sql`update vm set snapshot = 's', snapshot_name = 'a', snapshot_at = clock_timestamp()
    where id = ${id}`.execute(api.cloud.db)
  const list = JSON.parse((await run('snapshot', 'list', 'kept', '--json')).out) as object[]
  assert.equal(list.length, 1)
  assert.match((await run('snapshot', 'rm', 'kept', 'b')).err, /has no snapshot b: it has a/)
  for (const verb of ['revert', 'rm']) {
    const done = await ending()('snapshot', verb, 'kept', 'a')
    assert.equal(done.code, 0, done.err)
  }
})

test('set changes sizes and name; clone copies the only VM of a vApp', async () => {
  await addVm('changing')
  const set = await ending()('set', 'changing', '--memory', '256M', '--name', 'changed')
  assert.deepEqual([set.code, set.out], [0, 'changing is changed\n'], set.err)
  assert.match(
    (await run('set', 'changed', '--autostart', 'yes')).err,
    /--autostart is for VMs of this machine/,
  )
  const copy = await ending()('clone', 'changed', 'copy')
  assert.deepEqual([copy.code, copy.out], [0, 'copy is created from changed\n'], copy.err)
  const { vapp } = await api.cloud.addVms(2)
  await sql`update vapp set name = 'crowd' where id = ${vapp}`.execute(api.cloud.db)
  const crowd = await run('clone', 'crowd/vm-0', 'x')
  assert.match(crowd.err, /next: skerry vapp clone crowd x/)
  assert.equal((await run('vapp', 'clone', 'crowd', 'crowd-2', '--no-wait')).code, 0)
  await endAll()
})

test('address and ssh use the address that the host reported, console uses a ticket', async () => {
  const { id } = await addVm('seen', 'POWERED_ON')
  const none = await run('address', 'seen')
  assert.match(none.err, /seen has no address yet\nnext: skerry address seen --wait/)
  const never = await run('address', 'seen', '--wait', '--timeout', '3')
  assert.deepEqual(
    [never.code, /after 3 s\nnext: .*skerry console seen/.test(never.err)],
    [4, true],
  )
  await sql`update vm set network = 'guests', address = '192.0.2.9', boot = 'b1'
    where id = ${id}`.execute(api.cloud.db)
  assert.equal((await run('address', 'seen')).out, '192.0.2.9\n')
  const ssh = await run('ssh', 'seen', '--print')
  assert.match(ssh.out, new RegExp(`HostKeyAlias=skerry-vm-${id} .* root@192\\.0\\.2\\.9\\n$`))
  const opened = await at(alice(), { browser: 'xdg-open' })('console', 'seen')
  const page = new RegExp(
    `^https://console\\.example/console\\?mks%3A%2F%2Fconsole\\.example%2Fvm-${id}%3Fticket%3D\\S+\\n$`,
  )
  assert.match(opened.out, page)
  assert.deepEqual(opened.programs, [['xdg-open', opened.out.trim()]])
  await addVm('dark')
  assert.match(
    (await run('console', 'dark')).err,
    /its screen is not available to you\nnext: turn it on: skerry start dark/,
  )
  assert.match((await run('address', 'dark')).err, /next: turn it on: skerry start dark/)
})

test('commands that only this machine supports fail with an alternative', async () => {
  for (const [words, next] of [
    [['exec', 'seen', '--', 'ls'], /skerry ssh VM -- COMMAND/],
    [['logs', 'seen'], /skerry console VM/],
    [['share', 'list', 'seen'], /scp/],
    [['forward', 'list', 'seen'], /skerry address VM/],
    [['template', 'rm', 'x'], /import the next one under another name/],
  ] as const) {
    const { code, err } = await run(...words)
    assert.equal(code, 1)
    assert.match(err, /is for VMs of this machine, and work is a cloud\nnext: /)
    assert.match(err, next)
    assert.match(err, /--on local\n$/)
  }
  const local = await skerry(NOWHERE, ['vapp', 'list'])
  assert.deepEqual([local.code, /needs a cloud, .*\nnext: skerry login/.test(local.err)], [1, true])
})

test('events of the cloud are printed as they happen, from a given cursor on', async () => {
  const reported = await run('event', 'follow', '--since', '0', '--count', '3', '--json')
  const events = reported.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string; type: string })
  assert.equal(events.length, 3)
  const next = await run('event', 'follow', '--since', events[0]?.id ?? '', '--count', '1')
  assert.match(next.out, new RegExp(`^${events[1]?.id} .* ${events[1]?.type}`))
})

test('an image becomes a template of the catalog, or leaves nothing behind', async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'skerry-image-'))
  const file = join(directory.path, 'tiny.qcow2')
  await promisify(execFile)('qemu-img', ['create', '-q', '-f', 'qcow2', file, '8M'])
  const made = await run('template', 'import', file, '--memory', '256M', '--json')
  assert.equal(made.code, 0, made.err)
  assert.deepEqual(JSON.parse(made.out), {
    name: 'tiny',
    cpus: 1,
    memoryMiB: 256,
    virtualBytes: 8 * 1024 ** 2,
  })
  const { err } = await run('template', 'import', file)
  assert.match(err, /there is already a template tiny\nnext: choose another name with --name: a/)
  const digest = 'f'.repeat(64)
  const wrong = await run('template', 'import', file, '--name', 'other', '--sha256', digest)
  assert.equal(wrong.code, 1)
  assert.ok(!(await run('template', 'list')).out.includes('other'))
  const { rows } = await sql`select from upload where name = 'other'`.execute(api.cloud.db)
  assert.equal(rows.length, 0)
})
