// Goal: from an empty database to a host that answers its cell, by the documented commands. Method: the real commands, a lab
// host, vmd as it is installed.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { freshDatabase, reasonToSkip, startHost, until } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'

import { actingAs } from '../../apps/cloud/src/database/acting-as.ts'
import type { CloudTables } from '../../apps/cloud/src/database/tables.ts'
import { readIdentity } from '../../apps/cloud/src/identity/issuers.ts'
import { openMachineListener } from '../../apps/cloud/src/machine-api/server.ts'
import { startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import { issuing } from '../../apps/cloud/test/machine-api.ts'

const run = promisify(execFile)
const CLI = join(import.meta.dirname, '../../apps/cli/src/main.ts')
const skip = reasonToSkip('host') ?? false

test('init, invite, join: vmd answers its cell as the host that it became', { skip }, async () => {
  await using directory = await mkdtempDisposable(join(tmpdir(), 'skerry-joins-'))
  const dir = directory.path
  await using postgres = await startDatabases('nothing')
  await using fresh = await freshDatabase(postgres)
  const config = join(dir, 'cloud.json')
  const skerry = async (...words: readonly string[]) =>
    (await run(process.execPath, [CLI, 'admin', ...words, '--config', config])).stdout.trim()
  await skerry(
    'init',
    '--base',
    'https://127.0.0.1:8443',
    '--database',
    fresh.url,
    '--machines',
    '127.0.0.1:8444',
    '--images',
    join(dir, 'images'),
  )
  const identity = await readIdentity(join(dir, 'identity'))
  const url = actingAs(fresh.url, 'skerry_system')
  const db = openDatabase<CloudTables>({ url, applicationName: 'test' })
  await using stack = new AsyncDisposableStack()
  stack.defer(() => db.destroy())
  await using api = openMachineListener({
    db,
    identity: () => identity,
    issuing,
    images: join(dir, 'images'),
    log: () => undefined,
  })
  const socket = join(dir, 'door')
  api.server.listen(socket)
  await once(api.server, 'listening')

  await using host = await startHost({ dir: join(dir, 'host') })
  const relay = host.spawn(
    [process.execPath, join(import.meta.dirname, 'relay-process.ts'), '8444', socket],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  assert(relay.stdout)
  await once(relay.stdout, 'data')
  const [, ...line] = (await skerry('host', 'invite')).split(' ')
  const joining = [process.execPath, CLI, ...line, '--host-api', '127.0.0.1:8443', '--name', 'one']
  const joined = await host.run(joining)
  assert.equal(joined.code, 0, joined.stderr)
  assert.match(joined.stdout, /^this machine is host [0-9a-f-]{36} of the cloud/)
  const again = await host.run(joining)
  assert.match(again.stdout, /^this machine is already host/)
  const listed = JSON.parse(await skerry('host', 'list', '--json')) as Record<string, unknown>[]
  assert.equal(listed.length, 1)
  const [{ id, name, address, port } = {}] = listed
  assert.deepEqual([name, address, port], ['one', '127.0.0.1', 8443])

  const { log } = await host.startVmd()
  // It opens the host API after its own, which the lab waits for.
  const isOpen = async () =>
    (await host.run(['bash', '-c', ': </dev/tcp/127.0.0.1/8443'])).code === 0
  await until('the host API is open', isOpen)
  const asks = [process.execPath, join(import.meta.dirname, 'hello-process.ts')]
  const reported = await host.run([...asks, join(dir, 'identity'), String(id)])
  assert.equal(reported.code, 0, `${reported.stderr}\n${await readFile(log, 'utf8')}`)
  assert.equal((JSON.parse(reported.stdout) as { kind: string }).kind, 'hello')
  const other = await host.run([...asks, join(dir, 'identity'), 'another'])
  assert.notEqual(other.code, 0)
})
