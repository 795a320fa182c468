// Threat: a user of a host, or a compromised program there, reads the disks, the saved memory, the keys or the screens of guests.
// The path of every disk is in QEMU's command line, which every user may read. Method: a lab with a host and all servers of a
// cloud; guests of the host and of a tenant, a clone, a snapshot with memory, saved memory, a shared folder, an uploaded image.
// Then two users that belong to no group of ours try to open, list or connect to every path that root can list below the
// directories of the host and of the servers, and every path in a command line.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import {
  guestImage,
  reasonToSkip,
  reasonWithoutTemporal,
  startLab,
  until,
  type Lab,
  type LabHost,
} from '@skerry/lab'
import { attribute, childrenByLocalName } from '@skerry/xml'

import { CloudClient, taskOf } from '../../apps/cloud/test/cloud-client.ts'
import { run } from '../../tools/lab/src/system/run.ts'
import { curlOn } from '../accept/curl.ts'
import type { Opened, Report } from './open-as-stranger.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const PROGRAM = join(import.meta.dirname, 'open-as-stranger.ts')
/** Generous: guests are emulated, several at a time on few cores. */
const BOOT_MS = 180_000
/** The unprivileged account that the DHCP server runs as, and an ordinary user. */
const STRANGERS = [65534, 54_321]
/** The files of a host, as its own processes see them. */
const ON_HOST = ['/var/lib/skerry', '/run', '/var/lib/libvirt', '/var/log/libvirt', '/etc/libvirt']

/** Paths that other users may open, and why. Everything else is closed. */
const allowed: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^\/var\/cache\/libvirt\/qemu(\/capabilities)?$/, 'created by libvirt; its results are closed'],
  [/^\/etc\/hosts$/, 'names of machines'],
  [
    /\/lab\/([a-z]+-)?(balancer|cell|cloud|console|egress|postgres|temporal|window|worker|workflow)(-\d)?$/,
    'directories of the lab; names only',
  ],
  [/\/lab\/(lab\.lock|window\/open)$/, 'the lab’s; empty'],
  [
    /^\/var\/lib\/skerry\/(dhcp|networks)(\/|$)/,
    'the DHCP server is another user; a guest’s card and address are in the host’s ARP table, which everybody may read',
  ],
  [
    /^\/run(\/(lock|netns|mount|xtables\.lock|lab-devices))?$/,
    'the machine’s own, without content of ours',
  ],
  [/^\/run\/virtiofsd$/, 'made by virtiofsd; the locks in it are closed'],
  [
    /^\/run\/libvirt(\/(hostdevmgr|network(\/skerry[^/]*(\/ports)?)?|qemu(\/(passt|slirp))?|storage))?$/,
    'directories that libvirt creates; names only',
  ],
  [/^\/run\/(libvirt\/.*|[a-z]+)\.pid$/, 'numbers of processes, which /proc shows to everybody'],
  [/^\/run\/libvirt\/network\/nwfilter\.(leases|ltmp)$/, 'libvirt’s; empty'],
  [
    /^\/run\/libvirt\/libvirt-sock-ro$/,
    'Debian’s libvirt lets everybody read lists and states; no disk, no console, no secret',
  ],
  [/^\/var\/lib\/libvirt(\/dnsmasq(\/.*)?)?$/, 'libvirt’s DHCP server is another user; as above'],
  [/^\/var\/log\/libvirt(\/qemu)?$/, 'directories as Debian makes them; the logs in it are closed'],
  [/^\/var\/lib\/openvswitch$/, 'as Debian makes it, for Open vSwitch; empty on this host'],
  [/^\/etc\/libvirt(\/|$)/, 'settings and filters as Debian has them; guests are in closed files'],
]

const stack = new AsyncDisposableStack()
let lab: Lab
let host: LabHost
const { post, patch, get } = curlOn(() => host)

async function logIn(): Promise<CloudClient> {
  const { cloud } = lab
  const who = cloud?.tenants[0]
  assert.ok(cloud && who)
  const ca = readFileSync(cloud.ca, 'utf8')
  return CloudClient.logIn(cloud.url, ca, `${who.user}@${who.org}`, who.password)
}

/** A VM of a tenant with memory in a snapshot, and a half-uploaded image. */
async function inTheCloud(): Promise<void> {
  const client = await logIn()
  const ends = async ({ root, text }: Awaited<ReturnType<CloudClient['ask']>>) => {
    const task = await client.ended(taskOf(root), BOOT_MS)
    assert.equal(attribute(task, 'status'), 'success', text)
  }
  const made = await client.instantiate('tenant')
  await ends(made)
  const vapp = attribute(made.root, 'href') ?? ''
  const body = '<CreateSnapshotParams name="kept" memory="true"/>'
  await ends(await client.ask('POST', `${vapp}/action/createSnapshot`, { body }))

  const image = await readFile(await guestImage('small'))
  const sha256 = createHash('sha256').update(image).digest('hex')
  const [record] = childrenByLocalName(await client.get('/api/query?type=catalog'), 'CatalogRecord')
  const catalog = await client.get(attribute(record, 'href') ?? '')
  const link = (root: typeof catalog | undefined, rel: string) =>
    root && nodesIn(root, 'Link').find((each) => attribute(each, 'rel') === rel)
  const announced = await client.ask('POST', attribute(link(catalog, 'add'), 'href') ?? '', {
    body: `<UploadParams name="own" size="${image.length}" sha256="${sha256}" memoryMB="128"/>`,
  })
  assert.equal(announced.status, 201, announced.text)
  const to = attribute(link(announced.root, 'upload:default'), 'href') ?? ''
  const half = Math.floor(image.length / 2)
  const sent = await client.ask('PUT', to, {
    headers: { 'content-range': `bytes 0-${half - 1}/${image.length}` },
    body: image.subarray(0, half),
  })
  assert.equal(sent.status, 200, sent.text)
}

type Root = Awaited<ReturnType<CloudClient['get']>>
const nodesIn = (root: Root, name: string): Root[] => [
  ...childrenByLocalName(root, name),
  ...root.children.flatMap((child) => (typeof child === 'string' ? [] : nodesIn(child, name))),
]

/** A VM with a folder in a closed directory, its clone, and a VM with saved memory. */
async function onTheHost(home: string): Promise<void> {
  const said = async (answer: ReturnType<typeof post>, status: number) => {
    const { status: found, text } = await answer
    assert.equal(found, status, text)
  }
  const shared = join(home, 'closed/shared')
  await mkdir(shared, { recursive: true })
  await writeFile(join(shared, 'secret'), 'of the folder’s owner')
  for (const [path, mode] of [
    [shared, 0o777],
    [join(shared, 'secret'), 0o666],
    [join(home, 'closed'), 0o700],
  ] as const) {
    await chmod(path, mode)
  }
  await said(post('/api/templates?default', { file: await guestImage('small') }), 201)
  await said(post('/api/vms', { id: 'one', memoryMiB: 128, seed: { sshKeys: [] } }), 201)
  await said(post('/api/vms', { id: 'asleep', memoryMiB: 128 }), 201)
  await said(patch('/api/vms/power/one', 'on'), 200)
  await said(patch('/api/vms/one/folders', true), 200)
  await said(post('/api/vms/one/folders', { guestPath: 'docs', hostPath: shared, flags: 4 }), 201)
  await said(patch('/api/vms/power/asleep', 'on'), 200)
  await said(patch('/api/vms/power/asleep', 'suspend'), 200)
  await said(post('/api/vms', { id: 'two', parentid: 'one' }), 201)
}

const reportOf = (text: string): Report => JSON.parse(text) as Report
const words = (uid: number, whose: string, directories: readonly string[]) => [
  process.execPath,
  PROGRAM,
  String(uid),
  whose,
  ...directories,
]
/** The path of a directory of the lab's host on the host itself. */
const MOUNTS: readonly (readonly [lab: string, host: string])[] = [
  ['run', '/run'],
  ['var', '/var/lib/libvirt'],
  ['etc', '/etc/libvirt'],
  ['log', '/var/log/libvirt'],
  ['cache', '/var/cache/libvirt'],
  ['skerry', '/var/lib/skerry'],
  ['hosts', '/etc/hosts'],
]
function asOnHost(path: string): string {
  const inside = path.replace(`${host.dir}/`, '')
  const mount = MOUNTS.find(([name]) => inside === name || inside.startsWith(`${name}/`))
  return mount ? path.replace(join(host.dir, mount[0]), mount[1]) : path
}
const forbidden = ({ opened }: Report): Opened[] =>
  opened
    .map((one) => ({ ...one, path: asOnHost(one.path) }))
    .filter(({ path }) => !allowed.some(([pattern]) => pattern.test(path)))

suite('files of a host and of its cloud', { skip }, () => {
  before(async () => {
    const { path } = stack.use(await mkdtempDisposable(join(tmpdir(), 'disks-')))
    const wanted = { cells: 1, console: true, workflows: 1 }
    lab = stack.use(await startLab({ dir: join(path, 'lab'), hosts: 1, vmd: true, ...wanted }))
    const [first] = lab.hosts
    assert.ok(first)
    host = first
    await Promise.all([onTheHost(path), inTheCloud()])
  })
  after(() => stack.disposeAsync())

  test('QEMU runs as its own user that owns the disks, and no other user opens them', async () => {
    let qemus: readonly string[] = []
    // The QEMU of the suspended VM ends after its memory was saved, and libvirt may start one to read its capabilities.
    await until('one guest of the host and one of the tenant run', async () => {
      const { stdout } = await host.run(['ps', '-eo', 'user:20,args'])
      qemus = stdout.split('\n').filter((line) => /^\S+ +(\S*\/|\[)qemu-system/.test(line))
      return qemus.length === 2
    }).catch((cause: unknown) => {
      throw new Error(`the processes are: ${qemus.join('\n')}`, { cause })
    })
    for (const line of qemus) assert.match(line, /^libvirt-qemu /)
    const find =
      'find /var/lib/skerry /var/lib/libvirt/qemu/save -type f \\( -name "*.qcow2" -o -name "*.img" -o -name "*.save" \\) -printf "%m %p\\n"'
    const files = (await host.run(['sh', '-c', find])).stdout.trim().split('\n')
    assert.ok(files.length >= 9, files.join('\n'))
    assert.deepEqual(
      files.filter((line) => !line.startsWith('600 ')),
      [],
    )
  })

  test('on the host, other users open nothing of ours', async (t) => {
    for (const uid of STRANGERS) {
      const { stdout, stderr } = await host.run(words(uid, 'all', ON_HOST))
      assert.match(stdout, /^\{/, stderr)
      const report = reportOf(stdout)
      const { tried, opened } = report
      t.diagnostic(`user ${uid} tried ${JSON.stringify(tried)}, opened ${opened.length} allowed`)
      assert.ok(tried.file > 60 && tried.socket > 8, JSON.stringify(tried))
      assert.deepEqual(forbidden(report), [], `user ${uid}`)
    }
  })

  test('outside the host, other users open no file of the cloud’s servers', async (t) => {
    for (const uid of STRANGERS) {
      const report = reportOf(await run(words(uid, lab.dir, [lab.dir])))
      const { tried, opened } = report
      t.diagnostic(`user ${uid} tried ${JSON.stringify(tried)}, opened ${opened.length} allowed`)
      assert.deepEqual(forbidden(report), [], `user ${uid}`)
    }
  })

  test('the guests continue, and the host can still use its disks', async () => {
    await until(
      'the clone runs',
      async () => (await patch('/api/vms/power/two', 'on')).status === 200,
      BOOT_MS,
    )
    assert.equal((await patch('/api/vms/power/asleep', 'on')).status, 200)
    assert.equal((await get('/api/vms?view=full')).status, 200)
  })
})
