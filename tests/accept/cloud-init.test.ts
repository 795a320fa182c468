// Goal: a whole Debian does at its first start what the request that made it said.
// Method: a key and a document given at create, by curl; then a person's own way in, by SSH.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { guestImage, reasonToSkip, startHost, until } from '@skerry/lab'

import { assertSaid, curlOn, refused } from './curl.ts'

const skip = reasonToSkip('host', 'debian') ?? false
/** It takes one to two minutes, on a machine that has nothing else to do. */
const BOOT_MS = 400_000
const run = promisify(execFile)

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
  const file = await guestImage('debian')
  assert.equal((await post('/api/templates', { name: 'debian', file })).status, 201)
  const userData = [
    '#cloud-config',
    'write_files: [{ path: /root/told, content: "as it was told" }]',
    `users: [{ name: root, ssh_authorized_keys: ["${publicKey}"] }]`,
  ].join('\n')
  const asked = { id: 'debian', template: 'debian', memoryMiB: 768, cpus: 2, userData }
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
