// Goal: the package contains what is needed to run, and nothing else. Method: build it, inspect it with dpkg's own tools, and run its
// content without anything from this tree.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { packagedTemporal, temporalVersion } from '@skerry/site'

import { attempt, run } from '../../lab/src/system/run.ts'
import { buildDeb } from '../build-deb.ts'

const DEBIAN = join(import.meta.dirname, '../debian')
const parser = '/sbin/apparmor_parser'
const withoutParser = existsSync(parser) ? false : 'needs apparmor: run npm run setup as root'

let work = ''
let deb = ''
let tree = ''
before(async () => {
  work = await mkdtemp(join(tmpdir(), 'deb-test-'))
  deb = await buildDeb({ out: join(work, 'one'), version: '1.2.3', quick: true })
  tree = join(work, 'tree')
  await run(['dpkg-deb', '-x', deb, tree])
})
after(() => rm(work, { recursive: true, force: true }))

const bare = { env: { PATH: '/usr/bin:/bin' }, cwd: '/' }
const digest = async (file: string) =>
  createHash('sha256')
    .update(await readFile(file))
    .digest('hex')

test('the build is reproducible', async () => {
  const again = await buildDeb({ out: join(work, 'two'), version: '1.2.3', quick: true })
  assert.equal(await digest(again), await digest(deb))
})

/** A daemon does not start without the first; only `skerry up` and `skerry template build` need the second. */
const needed = {
  Depends: {
    'libvirt-daemon-system': 'libvirtd',
    'qemu-system-x86': 'qemu-system-x86_64',
    'qemu-system-common': 'virtiofsd',
    'qemu-utils': 'qemu-img',
    'dnsmasq-base': 'DHCP of libvirt’s network',
    iptables: 'iptables-restore',
    dosfstools: 'mkfs.vfat',
    mtools: 'mcopy',
    libatomic1: 'Node',
  },
  Recommends: {
    postgresql: 'initdb and postgres of skerry up',
    mmdebstrap: 'the template of skerry up',
    syslinux: 'its boot loader',
    e2fsprogs: 'mke2fs',
  },
}
for (const [field, used] of Object.entries(needed)) {
  test(`the field ${field} names the packages that its programs need`, async () => {
    const listed = await run(['dpkg-deb', '-f', deb, field])
    const named = new Set(listed.split(',').map((each) => each.trim().split(' ')[0]))
    assert.deepEqual(
      Object.keys(used).filter((name) => !named.has(name)),
      [],
    )
  })
}

test('all files belong to root, and none are for developers only', async () => {
  const lines = (await run(['dpkg-deb', '-c', deb])).trim().split('\n')
  const rows = lines.map((line) => line.split(/\s+/))
  assert.deepEqual([...new Set(rows.map(([, owner]) => owner))], ['root/root'])
  const modes = [...new Set(rows.map(([mode = '']) => mode))].sort()
  assert.deepEqual(modes, ['-rw-r--r--', '-rwxr-xr-x', 'drwxr-xr-x', 'lrwxrwxrwx'])
  const paths = rows.map((row) => row[5] ?? '')
  const foreign =
    /\/(test|tests)\/|\.test\.ts$|\.d\.ts$|oxlint|oxfmt|\/node_modules\/typescript\/|\/@types\//
  assert.deepEqual(
    paths.filter((path) => foreign.test(path)),
    [],
  )
  for (const path of [
    './usr/bin/skerry',
    './usr/share/man/man1/skerry.1.gz',
    './usr/share/bash-completion/completions/skerry',
    './usr/share/zsh/vendor-completions/_skerry',
    './lib/systemd/system/skerry-vmd.service',
    './lib/systemd/system/skerry-guests.service',
    './lib/systemd/system/skerry-cell.service',
    './usr/lib/skerry/apps/web/dist/index.html',
    './usr/share/doc/skerry/LICENSE.web-ui.gz',
    './usr/lib/skerry/temporal/temporal-server',
    './usr/lib/skerry/temporal/temporal-sql-tool',
  ]) {
    assert.ok(paths.includes(path), path)
  }
})

test('the command line runs from the unpacked tree alone', async () => {
  assert.equal(await run([join(tree, 'usr/bin/skerry'), 'version'], bare), 'skerry 1.2.3\n')
})

test('vmd finds all its modules in the unpacked tree', async () => {
  // It parses its options after everything was imported.
  const home = join(tree, 'usr/lib/skerry')
  const words = [join(home, 'bin/node'), join(home, 'apps/vmd/src/main.ts'), '--port', 'none']
  const { code, stderr } = await attempt(words, bare)
  assert.equal(stderr, 'skerry vmd: --port must be a number from 1 to 65535, not none\n')
  assert.equal(code, 2)
})

test('every server of a cloud finds all its modules in the unpacked tree, a cell its tables too', async () => {
  const home = join(tree, 'usr/lib/skerry')
  const start = (app: string, ...words: string[]) =>
    attempt([join(home, 'bin/node'), join(home, `apps/${app}/src/main.ts`), ...words], bare)
  // Each reads its configuration after everything was imported; a cell imports the most when it serves.
  for (const app of ['console', 'workflow']) {
    const { code, stderr } = await start(app, '--config', '/nowhere.json')
    assert.match(stderr, /\/nowhere\.json/)
    assert.doesNotMatch(stderr, /ERR_MODULE_NOT_FOUND/)
    assert.equal(code, 2)
  }
  const cell = join(home, 'apps/cloud')
  const loads = `await import('${cell}/src/cell/start-cell.ts'); await (await import('@skerry/temporal')).bundleWorkflows('${cell}/src/durable/workflows.ts')`
  await run([join(home, 'bin/node'), '--input-type=module', '--eval', loads], {
    ...bare,
    cwd: cell,
  })
  const ours = join(import.meta.dirname, '../../../apps/cloud/migrations')
  assert.deepEqual(await readdir(join(cell, 'migrations')), await readdir(ours))
})

test('it contains the Temporal server that this version runs, and the licences of all its modules', async () => {
  const { server, sql } = packagedTemporal(join(tree, 'usr/lib/skerry'))
  assert.ok((await run([server, '--version'], bare)).includes(temporalVersion.slice(1)))
  // The SQL of the tables is in the tool, which needs no other file.
  assert.match(await run([sql, '--help'], bare), /update-schema/)
  const licenses = await run(['zcat', join(tree, 'usr/share/doc/skerry/LICENSE.temporal.gz')])
  assert.ok(licenses.includes(`==== go.temporal.io/server@${temporalVersion} LICENSE`))
  assert.match(licenses, /The MIT License[^]*Copyright \(c\) \d+ Temporal Technologies/)
  const copyright = await readFile(join(tree, 'usr/share/doc/skerry/copyright'), 'utf8')
  assert.match(copyright, /^Files: usr\/lib\/skerry\/temporal\/\*$/m)
})

test('skerry up of the unpacked tree uses that server, and needs no Go', async () => {
  const home = join(tree, 'usr/lib/skerry')
  const check = join(home, 'apps/cli/src/up/check.ts')
  const asks = `console.log(JSON.stringify(await (await import('${check}')).temporalPrograms('/nowhere')))`
  const said = await run([join(home, 'bin/node'), '--input-type=module', '--eval', asks], bare)
  assert.deepEqual(JSON.parse(said), packagedTemporal(home))
})

test('without a built Temporal the build fails and says how to build it', async () => {
  const command = [process.execPath, join(import.meta.dirname, '../build-deb.ts'), '--out', work]
  const env = { ...process.env, XDG_CACHE_HOME: join(work, 'empty') }
  const { code, stdout, stderr } = await attempt([...command, '--version', '9.9.9'], { env })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(
    stderr,
    /^package: the package contains Temporal .* not built: .*; run npm run setup:temporal, which needs Go\n$/,
  )
})

test('the manual page is included', async () => {
  const page = join(tree, 'usr/share/man/man1/skerry.1.gz')
  const text = await run(['zcat', page])
  assert.match(text, /^\.TH "?SKERRY"? 1/im)
})

test('the maintainer scripts have valid syntax', async () => {
  for (const script of ['postinst', 'prerm', 'postrm'])
    await run(['sh', '-n', join(DEBIAN, script)])
  await run(['sh', '-n', join(tree, 'usr/lib/skerry/bin/stop-guests')])
})

test('while the machine stays up, stopping the guests unit does nothing', async () => {
  // There is no Node where the script would look for it, so a request would be an error.
  const script = join(tree, 'usr/lib/skerry/bin/stop-guests')
  assert.deepEqual(await attempt(['sh', script], bare), { stdout: '', stderr: '', code: 0 })
})

test('AppArmor accepts the addition to QEMU’s profile', { skip: withoutParser }, async () => {
  const lines = join(tree, 'etc/apparmor.d/abstractions/skerry-qemu')
  const profile = `profile guest {\n  include "${lines}"\n}\n`
  const { code, stderr } = await attempt([parser, '-Q', '-K'], {
    input: profile,
  })
  assert.equal(code, 0, stderr)
})
