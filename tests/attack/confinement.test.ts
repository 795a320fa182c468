// Threat: an attacker takes over one server of a cloud, in particular the egress, which parses responses of foreign servers, and
// reads keys and passwords of the other servers. Method: the operator commands create the files of all servers; they are handed
// over as the units do it; then each server's user, with the capabilities of its unit, tries to open every file that root can
// list. Only its own may open.
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import type { Postgres } from '@skerry/lab'
import { handOver } from '@skerry/site'

import { startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import { openCommands } from '../../apps/cloud/test/command-site.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const EGRESS = join(ROOT, 'apps/egress/src/main.ts')

const kinds = ['cell', 'console', 'workflow', 'egress'] as const
type Kind = (typeof kinds)[number]
/** Uids that no user of the machine has. */
const FIRST_ID = 64_301
const idOf = (kind: Kind | 'nobody'): number =>
  kind === 'nobody' ? FIRST_ID + kinds.length : FIRST_ID + kinds.indexOf(kind)

let postgres: Postgres & AsyncDisposable
before(async () => {
  postgres = await startDatabases('nothing')
})
after(() => postgres[Symbol.asyncDispose]())

/** As the unit of the package starts it. */
async function asUnit(kind: Kind | 'nobody'): Promise<readonly string[]> {
  const id = String(idOf(kind))
  const bare = ['--reuid', id, '--regid', id, '--no-new-privs']
  if (kind === 'nobody') return [...bare, '--clear-groups', '--']
  const unit = await readFile(join(ROOT, `tools/package/units/skerry-${kind}.service`), 'utf8')
  const [, bounding = ''] = /^CapabilityBoundingSet=(.*)$/m.exec(unit) ?? []
  const caps = `-all${bounding.toLowerCase().replace(/^cap_/, ',+')}`
  const [, groups] = /^SupplementaryGroups=skerry-(.*)$/m.exec(unit) ?? []
  return [
    ...bare,
    ...(groups === undefined ? ['--clear-groups'] : ['--groups', String(idOf(groups as Kind))]),
    `--bounding-set=${caps}`,
    `--inh-caps=${caps}`,
    `--ambient-caps=${caps}`,
    '--',
  ]
}

/** The files below a directory that this user can open. */
async function opened(dir: string, kind: Kind | 'nobody'): Promise<readonly string[]> {
  const { stdout: found } = await run('find', [dir, '-type', 'f', '-printf', '%P\\n'])
  const files = found.split('\n').filter((line) => line !== '')
  assert.ok(files.length > 20, 'there is something to steal')
  const script =
    'for each; do if [ -r "$each" ] && cat "$each" >/dev/null; then echo "$each"; fi; done'
  const words = ['sh', '-c', script, 'sh', ...files]
  const { stdout } = await run('setpriv', [...(await asUnit(kind)), ...words], { cwd: dir })
  return stdout.split('\n').filter((line) => line !== '')
}

async function makeCloud() {
  const site = await openCommands(postgres)
  const at = (name: string) => join(site.dir, name)
  await site.init()
  await site.type([
    'console-server',
    'create',
    'k1',
    '--out',
    at('console'),
    '--page',
    'https://127.0.0.2:9443',
  ])
  await site.type([
    'workflow-server',
    'create',
    'w1',
    '--out',
    at('workflow'),
    '--url',
    'https://127.0.0.3:8281',
    '--database',
    'postgres://someone@db.example/workflow',
  ])
  await site.type(['cell', 'create', 'cell-2', '--out', at('cell-2')])
  await writeFile(at('images/image'), 'of a tenant', { mode: 0o600 })
  await chmod(site.dir, 0o755)
  const configs: Readonly<Record<Kind, string>> = {
    cell: site.config,
    console: at('console/console.json'),
    workflow: at('workflow/workflow.json'),
    egress: at('workflow/egress.json'),
  }
  const start = async () => {
    for (const kind of kinds) await handOver(configs[kind], { uid: idOf(kind), gid: idOf(kind) })
  }
  return { ...site, configs, start }
}

const own: Readonly<Record<Kind | 'nobody', RegExp>> = {
  cell: /^(cloud\.json$|identity\/|images\/)/,
  console: /^console\//,
  workflow: /^workflow\/(workflow\.json$|identity\/)/,
  egress: /^workflow\/egress\.json$/,
  nobody: /^$/,
}

test('no server opens a file of another, and no other user opens any', async () => {
  const site = await makeCloud()
  await using _ = site
  await site.start()
  for (const kind of [...kinds, 'nobody'] as const) {
    const files = await opened(site.dir, kind)
    assert.deepEqual(
      files.filter((file) => !own[kind].test(file)),
      [],
      kind,
    )
    assert.equal(files.length > 0, kind !== 'nobody', kind)
  }
  assert.deepEqual(await opened(site.dir, 'egress'), ['workflow/egress.json'])
})

test('files that root creates while servers run stay readable for them, and for no one else', async () => {
  const site = await makeCloud()
  await using _ = site
  await site.start()
  const before = await opened(site.dir, 'cell')
  await site.type(['init', '--console', '127.0.0.2:9443'])
  await site.type(['certificate', 'revoke'])
  await site.type([
    'console-server',
    'create',
    'k1',
    '--out',
    join(site.dir, 'console'),
    '--page',
    'https://127.0.0.2:9443',
  ])
  assert.deepEqual(await opened(site.dir, 'cell'), before)
  assert.ok((await opened(site.dir, 'console')).includes('console/identity/console.pem'))
  assert.deepEqual(await opened(site.dir, 'egress'), ['workflow/egress.json'])
})

test('the egress serves its socket as its user, to cells and the workflow server and to no other', async () => {
  const site = await makeCloud()
  await using _ = site
  await site.start()
  const words = [...(await asUnit('egress')), process.execPath, EGRESS, site.configs.egress]
  const egress = spawn('setpriv', words, { stdio: ['ignore', 'pipe', 'inherit'], env: {} })
  const ended = once(egress, 'exit')
  try {
    await Promise.race([once(egress.stdout, 'data'), ended.then(() => assert.fail('it ended'))])
    const socket = join(site.dir, 'workflow/egress/egress.sock')
    const script = `require('node:net').connect(${JSON.stringify(socket)}).on('connect', () => process.exit(0)).on('error', () => process.exit(1))`
    const connects = async (kind: Kind | 'nobody') =>
      run('setpriv', [...(await asUnit(kind)), process.execPath, '-e', script]).then(
        () => true,
        () => false,
      )
    const reach = await Promise.all(([...kinds, 'nobody'] as const).map(connects))
    assert.deepEqual(reach, [true, false, true, true, false])
  } finally {
    egress.kill()
    await ended
  }
})
