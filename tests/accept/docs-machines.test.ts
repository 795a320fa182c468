// Goal: the lines of docs/guides/own-machines.md, join-host.md, upgrade.md, restore.md and original-clients.md create and maintain
// a cloud on several machines from the package. Method: every block unmodified, on the machine that it names; PostgreSQL,
// Temporal, libvirt and the package's files are real.
import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { reasonToSkip, reasonWithoutTemporal, until, type HostRow } from '@skerry/lab'

import { openMachines, type Machines } from './machines.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const SEEN_MS = 120_000

let machines: Machines
const opened = new AsyncDisposableStack()
before(async () => {
  if (skip !== false) return
  const dir = opened.use(await mkdtempDisposable(join(tmpdir(), 'pages-')))
  machines = opened.use(await openMachines(dir.path))
})
after(() => opened.disposeAsync())

const asks = (options: string, url: string) =>
  `curl -sS --fail-with-body --retry 90 --retry-delay 1 --retry-all-errors --cacert ${options} ${url}`

test(
  'own-machines.md: a cloud with two cells, a console and a workflow server',
  { skip },
  async () => {
    const said = await machines.type('own-machines.md')
    assert.match(said, /administrator@System/)
    assert.match(said, /<inventory-items/)
    for (const cell of ['192.0.2.11', '192.0.2.12']) {
      const at = `--resolve cloud.example:443:${cell} https://cloud.example/api/versions`
      const versions = await machines.on('cell-1', asks('/etc/skerry/identity/ca.pem', at))
      assert.match(versions, /<SupportedVersions/)
    }
    const page = asks('/etc/skerry/identity/ca.pem', 'https://console.example/console')
    assert.match(await machines.on('cell-1', page), /<!doctype html>/i)
  },
)

test('join-host.md: two hosts, on which VMs are placed', { skip }, async () => {
  await machines.type('join-host.md')
  const list = async () =>
    JSON.parse(await machines.on('cell-1', 'skerry admin host list --json')) as HostRow[]
  await until(
    'both hosts are open',
    async () => {
      const rows = await list()
      return rows.length === 2 && rows.every(({ seen, enabled }) => seen && enabled)
    },
    SEEN_MS,
  )
})

test('upgrade.md: the cells are stopped and started again', { skip }, async () => {
  const said = await machines.type('upgrade.md')
  assert.match(said, /<SupportedVersions/)
})

test(
  'restore.md: a dump is restored, and the cloud reads the state of its hosts by itself',
  { skip },
  async () => {
    assert.match(await machines.type('restore.md'), /recovery started at/)
    const status = () => machines.on('cell-1', 'skerry admin recovery info')
    await until(
      'both hosts were read',
      async () => (await status()).startsWith('the cloud is not recovering'),
      SEEN_MS,
    )
  },
)

test(
  'original-clients.md: a second address of the cloud that uses the original names',
  { skip },
  async () => {
    assert.match(
      await machines.type('original-clients.md'),
      /<SupportedVersions xmlns="http:\/\/www\.vmware\.com\/vcloud\/versions"/,
    )
  },
)
