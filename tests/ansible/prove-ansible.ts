// npm run prove:ansible: the collection for Ansible against a cloud of two cells with PostgreSQL, Temporal and a network server; its
// hosts are simulated. The lines and playbooks of docs/guides/ansible.md run as they are written, each play a second time; then
// refused requests, two plays at once, and a play through kill -9 of its cell. Fails when a play does what it should not. Prints
// the seconds of each run.
import assert from 'node:assert/strict'
import { cp, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { until } from '@skerry/lab'

import { startSmallCloud, untilOpen } from '../../apps/cloud/test/small-cloud.ts'
import { readGuide } from './guide.ts'
import { startNetworkServer } from './network-server.ts'
import { addAdministrator, contentsOf } from './organisation.ts'
import { actionsOf, openAnsible, recapOf } from './programs.ts'
import { changes, changesNothing, stepsWith, succeeds, type Check } from './steps.ts'

const HOSTS = 2
const LONG_MS = 600_000
const CLONE = join(import.meta.dirname, '../..')
const MODULES = ['network', 'query_info', 'token', 'token_info', 'user', 'vapp', 'vm']
const began = performance.now()
const guide = await readGuide()

await using stack = new AsyncDisposableStack()
const { path: dir } = stack.use(await mkdtempDisposable(join(tmpdir(), 'ansible-')))
const cloud = stack.use(await startSmallCloud({ cells: 2, hosts: HOSTS }))
await untilOpen(cloud.db, HOSTS)
stack.use(await startNetworkServer(cloud, join(dir, 'network')))
const [cell] = cloud.cells
assert.ok(cell)
for (const [name, text] of guide.files) await writeFile(join(dir, name), text)
await cp(join(import.meta.dirname, 'plays'), join(dir, 'plays'), { recursive: true })
await writeFile(join(dir, 'cloud.pem'), cloud.ca)
const ansible = await openAnsible(dir, {
  clone: CLONE,
  SKERRY_URL: cell.url,
  SKERRY_TOKEN: await addAdministrator(cloud),
  SKERRY_CA: join(dir, 'cloud.pem'),
  RITA_PASSWORD: 'a password for rita',
})
const steps = stepsWith(ansible)

/** In check mode: these actions, and the cloud is as before. */
const onlySays = async (...actions: readonly string[]): Promise<Check> => {
  const before = await contentsOf(cloud)
  return async (run) => {
    assert.equal(run.code, 0)
    assert.deepEqual(actionsOf(run), actions)
    assert.equal(await contentsOf(cloud), before)
    return `says ${actions.length} actions, does none`
  }
}

const shows =
  (...parts: readonly RegExp[]): Check =>
  (run) => {
    assert.equal(run.code, 0)
    for (const part of parts) assert.match(run.output, part)
    return 'shows what is there'
  }

/** Each line of the guide. A line that is missing here, or there, is an error. */
const lines: Readonly<Record<string, () => Promise<void>>> = {
  'ansible-galaxy collection install "$clone/clients/ansible"': () =>
    run('install', succeeds('installed')),
  'ansible-doc skerry.cloud.vm': async () => {
    await run('documentation of a module', shows(/OPTIONS/, /EXAMPLES/, /RETURN/))
    await proveDocuments()
  },
  'ansible-playbook site.yml --check --diff -v': async () => {
    const creation = ['create network backend', 'create VM db', 'set memory from 64 to 128 of db']
    const starts = ['start db', 'create VM web', 'set metadata role of web', 'start web']
    const others = ['create vApp workers', 'set metadata role of workers', 'create user rita']
    await run(
      'site.yml in check mode',
      await onlySays(...creation, 'set metadata role of db', ...starts, ...others),
    )
  },
  'ansible-playbook site.yml': () => runTwice('site.yml', 5),
  'ansible-playbook change.yml': () => runTwice('change.yml', 5),
  'ansible-inventory -i cloud.skerry.yml --graph': () =>
    run(
      'inventory, all hosts',
      shows(
        /@status_powered_on:[^@]*--web$/m,
        /@status_powered_off:[^@]*--db$/m,
        /@label_role_web:/,
        /@vapp_workers:/,
        /@vdc_main:/,
        /@cpus_2:/,
      ),
    ),
  'ansible-inventory -i cloud.skerry.yml --host web': () =>
    run(
      'inventory, one host',
      shows(
        /"ansible_host": "192\.168\.10\.1\d\d"/,
        /"status": "POWERED_ON"/,
        /"tier": "large"/,
        /"cpus": 2/,
      ),
    ),
  'ansible-playbook query.yml': () => run('query.yml', shows(/"msg": \[\s*"db"\s*\]/)),
  'ansible-playbook remove.yml --check -v': async () => {
    await proveOtherPlays()
    const vms = ['stop web', 'delete VM web and its vApp', 'delete VM db and its vApp']
    const others = ['stop workers', 'delete vApp workers', 'delete network backend']
    await run(
      'remove.yml in check mode',
      await onlySays(...vms, ...others, 'set enabled of user rita'),
    )
  },
  'ansible-playbook remove.yml': () => runTwice('remove.yml', 4),
}
let line = ''
const run = (what: string, check: Check) => steps.run(what, line, check)
const runTwice = async (what: string, tasks: number) => {
  await run(what, changes(tasks))
  await run(`${what} again`, changesNothing)
}
assert.deepEqual(Object.keys(lines), guide.lines)
for (line of guide.lines) await lines[line]?.()

async function proveDocuments(): Promise<void> {
  const modules = MODULES.map((name) => `skerry.cloud.${name}`).join(' ')
  await steps.run(
    'documentation of the others',
    `ansible-doc -t module ${modules} >modules.txt; ansible-doc -t inventory skerry.cloud.vms >vms.txt`,
    succeeds(`${MODULES.length} modules and the inventory`),
  )
  const line = 'ansible-galaxy collection build "$clone/clients/ansible"'
  await steps.run('build', line, succeeds('an archive'))
}

/** While the VMs of the guide are there. */
async function proveOtherPlays(): Promise<void> {
  const before = await contentsOf(cloud)
  await proveRefusals(before)
  await steps.runTogether(
    'two plays at once',
    'ansible-playbook plays/at-once.yml -v',
    2,
    (runs) => {
      for (const each of runs) assert.deepEqual([each.code, recapOf(each).failed], [0, 0])
      const creations = runs.flatMap(actionsOf).filter((each) => each === 'create VM shared')
      assert.equal(creations.length, 1)
      return 'one creates the VM, both succeed'
    },
  )
  await steps.run('at-once.yml again', 'ansible-playbook plays/at-once.yml', changesNothing)
  await proveKills()
  await steps.run('clear.yml', 'ansible-playbook plays/clear.yml', changes(2))
  await steps.run('clear.yml again', 'ansible-playbook plays/clear.yml', changesNothing)
  assert.equal(await contentsOf(cloud), before)
}

async function proveRefusals(before: string): Promise<void> {
  await steps.run('refused.yml', 'ansible-playbook plays/refused.yml -v', async (ended) => {
    const { ignored, changed } = recapOf(ended)
    for (const words of [
      /"code": "UNAUTHENTICATED".*"msg": "[^"]*token/,
      /"msg": "template not found: missing; there are: small"/,
      /"code": "INVALID".*"msg": "network unknown not found in this vdc/,
      /"msg": "the certificate of https:.* is not trusted .*: name its issuer with ca"/,
      /"code": "INVALID".*"msg": "[^"]*vm has no attribute colour; it has name, /,
      /"msg": "web is POWERED_ON, and must be off for a change of cpus: .*force: true"/,
    ])
      assert.match(ended.output, words)
    assert.deepEqual([ignored, changed], [6, 0])
    assert.equal(await contentsOf(cloud), before)
    return `${ignored} errors in words, nothing changed`
  })
}

/** Kills the cell that the play speaks to while it creates a VM, twice. */
async function proveKills(): Promise<void> {
  const killed = ['killed-1', 'killed-3']
  const restarts = async () => {
    for (const name of killed) {
      await until(`${name} is being created`, () => isThere(name), LONG_MS)
      await cell?.kill9()
      await cell?.start()
    }
  }
  const play = 'ansible-playbook plays/many.yml'
  const check: Check = async (ended) => `${killed.length} kills, ${await changes(1)(ended)}`
  await Promise.all([restarts(), steps.run('many.yml through kill -9 of its cell', play, check)])
  await steps.run('many.yml again', play, changesNothing)
  const wanted = [1, 2, 3, 4].map((number) => `killed-${number}`)
  assert.deepEqual(await namesLike('killed-%'), wanted)
}

async function isThere(name: string): Promise<boolean> {
  return (await namesLike(name)).length > 0
}

async function namesLike(pattern: string): Promise<string[]> {
  const vms = await cloud.db
    .selectFrom('vm')
    .select('name')
    .where('name', 'like', pattern)
    .where('deleted_at', 'is', null)
    .orderBy('name')
    .execute()
  return vms.map(({ name }) => name)
}

steps.print()
console.log(`all in ${((performance.now() - began) / 1000).toFixed(0)} s`)
