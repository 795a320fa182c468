// Goal: a cell orders a real guest through vmd as it is installed; the death of vmd does not affect the guest; a screen lives as
// long as its boot. Method: a lab host that has joined by files, and a cell inside its network.
import assert from 'node:assert/strict'
import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { guestImage, reasonToSkip, startHost, startIssuer, until } from '@skerry/lab'

const skip = reasonToSkip('host', 'small') ?? false

test('a cell creates a guest, sees its screen and deletes it', { skip }, async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'host-api-'))
  await using control = await startIssuer('control')
  await using hosts = await startIssuer('hosts')
  const dir = join(directory.path, 'host')
  await using host = await startHost({ dir })
  const own = await hosts.issue('URI:skerry://lab/host/h1')
  const cell = await control.issue('URI:skerry://lab/cell/c1')
  const cloud = join(dir, 'skerry/cloud')
  await mkdir(cloud, { recursive: true, mode: 0o711 })
  const files = {
    [join(cloud, 'certificate.pem')]: own.cert,
    [join(cloud, 'key.pem')]: own.key,
    [join(cloud, 'issuers.pem')]: control.cert,
    [join(cloud, 'cells.json')]: JSON.stringify([{ address: '127.0.0.1', port: 8444 }]),
    [join(directory.path, 'cell.key')]: cell.key,
    [join(directory.path, 'cell.crt')]: cell.cert,
    [join(directory.path, 'hosts.crt')]: hosts.cert,
  }
  for (const [file, text] of Object.entries(files)) await writeFile(file, text, { mode: 0o600 })
  /** It opens the host API after its own, which the lab waits for. */
  const startVmd = async () => {
    await host.startVmd()
    const isOpen = async () =>
      (await host.run(['bash', '-c', ': </dev/tcp/127.0.0.1/8443'])).code === 0
    await until('the host API is open', isOpen)
  }
  await startVmd()
  const image = await guestImage('small')
  const program = `${import.meta.dirname}/host-api-process.ts`
  const asCell = async (phase: string): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await host.run([
      process.execPath,
      program,
      directory.path,
      image,
      phase,
    ])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as Record<string, unknown>
  }
  const begun = await asCell('begin')
  assert.equal(begun['power'], 'on')
  await host.killVmd()
  await startVmd()
  const local = await host.run(['curl', '-s', 'http://127.0.0.1:8080/api/vms'])
  assert.doesNotMatch(local.stdout, /7b0f0dc1/)
  assert.deepEqual(await asCell('look'), {
    boot: begun['boot'],
    wrong: 'Fault: VM 7b0f0dc1-0000-4000-8000-000000000001 is on, in another boot or in none',
    greeting: 'RFB 003.008',
    twice: 'invalid, used or expired screen ticket',
    seen: { kind: 'PNG', large: true },
    notSeen: 'Fault: VM 7b0f0dc1-0000-4000-8000-000000000001 is on, in another boot or in none',
    bootAfterReset: begun['boot'],
    left: 'nothing',
  })
  const domains = await host.run(['virsh', 'list', '--all', '--name'])
  assert.equal(domains.stdout.trim(), '')
})
