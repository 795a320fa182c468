// Goal: one command makes a Debian out of packages, which does at its first start what the request that made it said.
// Method: `skerry template build` on a host with vmd, where an image that was built before is taken from the cache; a key and
// a document given at create, by curl; then a person's own way in, by SSH.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { debianImagePlace, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { openArchive } from './archive-relay.ts'
import { assertSaid, curlOn, refused } from './curl.ts'

const skip = reasonToSkip('host', 'debian') ?? false
/** It takes one to two minutes, on a machine that has nothing else to do. */
const BOOT_MS = 400_000
const SKERRY = join(import.meta.dirname, '../../apps/cli/bin/skerry')
const run = promisify(execFile)

/** As a person would, in one command; every step is told on the way. */
async function buildTemplate(host: LabHost, dir: string): Promise<void> {
  const kept = await debianImagePlace()
  const isBuilt = existsSync(kept)
  await using archive = await openArchive(host, dir)
  const env = { ...process.env, http_proxy: archive.proxy }
  const command = [SKERRY, 'template', 'build', '--keep', kept]
  const { code, stdout, stderr } = await host.run(command, { env })
  assert.deepEqual([code, stdout], [0, 'template default is there: Debian 12\n'], stderr)
  const told = [...stderr.matchAll(/^building Debian 12: step (\d) of (\d), /gm)]
  assert.deepEqual(
    told.map(([, step, steps]) => `${step}/${steps}`),
    isBuilt ? [] : ['1/9', '2/9', '3/9', '4/9', '5/9', '6/9', '7/9', '8/9', '9/9'],
  )
  assert.ok(existsSync(kept))
}

test('Debian takes an SSH key and a cloud-init document at create', { skip }, async () => {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'cloud-init-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const host = stack.use(await startHost({ dir: join(dir, 'host') }))
  const { get, post, patch } = curlOn(() => host)
  await host.startVmd()

  const key = join(dir, 'key')
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
  const publicKey = (await readFile(`${key}.pub`, 'utf8')).trim()
  await buildTemplate(host, dir)
  const userData = [
    '#cloud-config',
    'write_files: [{ path: /root/told, content: "as it was told" }]',
    `users: [{ name: root, ssh_authorized_keys: ["${publicKey}"] }]`,
  ].join('\n')
  const asked = { id: 'debian', memoryMiB: 768, cpus: 2, userData }
  refused(await post('/api/vms', { ...asked, sshKeys: [publicKey] }), 400, /not both/)
  assert.equal((await post('/api/vms', asked)).status, 201)
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
    ...['ssh', '-i', key, '-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes'],
    ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null'],
    ...['-o', 'ConnectTimeout=20', `root@${address}`, 'hostname; cat /root/told'],
  ]
  const said = await until(
    'SSH lets us in',
    async () => {
      const { code, stdout } = await host.run(login)
      if (code !== 0) await sleep(2000)
      return code === 0 && stdout
    },
    BOOT_MS,
  )
  assert.equal(said, 'debian\nas it was told')
})
