// Goal: one command builds a Debian template from packages, and a VM of it executes the cloud-init data of its create request at
// its first boot. Method: `skerry template build` on a host with vmd, with a cached image if there is one; a key and a document
// given at create, by curl; then SSH, as a user would.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import {
  debianImagePlace,
  reasonToSkip,
  startHost,
  until,
  type LabHost,
  type Outcome,
} from '@skerry/lab'

import { openArchive } from './archive-relay.ts'
import { assertSaid, curlOn, refused } from './curl.ts'

const skip = reasonToSkip('host', 'debian') ?? false
/** It takes one to two minutes on an idle machine. */
const BOOT_MS = 400_000
/** More than the template has. */
const DISK_MIB = 4096
const SKERRY = join(import.meta.dirname, '../../apps/cli/bin/skerry')
const run = promisify(execFile)

/** As a user would, in one command; every step is printed. */
async function buildTemplate(host: LabHost, dir: string): Promise<void> {
  const kept = await debianImagePlace()
  const isBuilt = existsSync(kept)
  await using archive = await openArchive(host, dir)
  const env = { ...process.env, http_proxy: archive.proxy }
  const command = [SKERRY, 'template', 'build', '--keep', kept]
  const { code, stdout, stderr } = await host.run(command, { env })
  assert.deepEqual([code, stdout], [0, 'template default is ready: Debian 12\n'], stderr)
  const printed = [...stderr.matchAll(/^building Debian 12: step (\d) of (\d), /gm)]
  assert.deepEqual(
    printed.map(([, step, steps]) => `${step}/${steps}`),
    isBuilt ? [] : ['1/9', '2/9', '3/9', '4/9', '5/9', '6/9', '7/9', '8/9', '9/9'],
  )
  assert.ok(existsSync(kept))
}

const stack = new AsyncDisposableStack()
let host: LabHost
/** Runs a command in the guest, by SSH. */
let inside: (command: string) => Promise<Outcome>
const { get, post, patch } = curlOn(() => host)

before(async () => {
  if (skip !== false) return
  const dir = await mkdtemp(join(tmpdir(), 'cloud-init-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  host = stack.use(await startHost({ dir: join(dir, 'host') }))
  await host.startVmd()
  await buildTemplate(host, dir)
})
after(() => stack.disposeAsync())

test('Debian takes an SSH key and a cloud-init document at create', { skip }, async () => {
  const dir = await mkdtemp(join(tmpdir(), 'cloud-init-key-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const key = join(dir, 'key')
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
  const publicKey = (await readFile(`${key}.pub`, 'utf8')).trim()
  const userData = [
    '#cloud-config',
    'write_files: [{ path: /root/told, content: "as it was told" }]',
    'runcmd: [echo yes >/root/ran]',
    `users: [default, { name: root, ssh_authorized_keys: ["${publicKey}"] }]`,
  ].join('\n')
  const requested = { id: 'debian', memoryMiB: 768, cpus: 2, diskMiB: DISK_MIB, userData }
  refused(await post('/api/vms', { ...requested, sshKeys: [publicKey] }), 400, /not both/)
  assert.equal((await post('/api/vms', requested)).status, 201)
  assertSaid(await patch('/api/vms/power/debian', 'on'), 200, 'powered on')

  const address = await until(
    'Debian has an address',
    async () => {
      const { status, body } = await get('/api/vms/debian/ipaddress?wait=60')
      return status === 200 && (body as { message: string }).message
    },
    BOOT_MS,
  )
  const login = [
    'ssh',
    '-i',
    key,
    '-o',
    'IdentitiesOnly=yes',
    '-o',
    'BatchMode=yes',
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'ConnectTimeout=20',
    `root@${address}`,
  ]
  inside = (command) => host.run([...login, command])
  const said = await until(
    'SSH accepts the key',
    async () => {
      const { code, stdout } = await inside('hostname; cat /root/told')
      if (code !== 0) await sleep(2000)
      return code === 0 && stdout
    },
    BOOT_MS,
  )
  assert.equal(said, 'debian\nas it was told')
})

test(
  'cloud-init succeeds, the root file system grows to the disk, and there are a user and an agent',
  { skip },
  async () => {
    const must = async (command: string) => {
      const { code, stdout, stderr } = await inside(command)
      assert.equal(code, 0, `${command}: ${stderr}${stdout}`)
      return stdout.trim()
    }
    assert.match(await must('cloud-init status --wait --long'), /status: done/)
    assert.equal(await must('cat /root/ran'), 'yes')
    assert.match(await must('getent passwd debian'), /^debian:/)
    const root = Number(await must('df --output=size -B1M / | tail -1'))
    assert.ok(root > DISK_MIB - 600, `the root has ${root} MiB of ${DISK_MIB}`)
    assert.equal((await post('/api/vms/debian/exec', { path: '/bin/true' })).status, 200)
    assertSaid(await patch('/api/vms/power/debian', 'shutdown'), 200, 'powered off')
  },
)
