// A real network server for a small cloud, so that its networks are projected into OVN. Its simulated hosts are ready for cards.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { freePorts, startIssuer, until } from '@skerry/lab'
import { urlFor } from '@skerry/postgres'

import type { SmallCloud } from '../../apps/cloud/test/small-cloud.ts'

const PROGRAM = join(import.meta.dirname, '../../apps/network/src/main.ts')
const WAIT_MS = 120_000
const LOGIN = 'network_of_ansible'

/** `dir`: an empty directory. */
export async function startNetworkServer(
  { db, hosts, postgres }: SmallCloud,
  dir: string,
): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack()
  const issuer = stack.use(await startIssuer('network'))
  await postgres.psql(`create role ${LOGIN} login password 'secret' in role skerry_network`)
  await postgres.psql(`grant connect on database cloud to ${LOGIN}`)
  const port = await freePorts(2)
  const at = (file: string) => join(dir, file)
  await mkdir(dir)
  const { key, cert } = await issuer.issue()
  const files = { key, certificate: cert, ca: issuer.cert }
  for (const [file, text] of Object.entries(files)) await writeFile(at(file), text)
  const config = {
    name: 'network-1',
    listen: { address: '127.0.0.1', port },
    database: urlFor(postgres.urlOf('cloud'), LOGIN, 'secret'),
    data: at('data'),
    tls: { key: at('key'), certificate: at('certificate'), ca: at('ca') },
    health: { address: '127.0.0.1', port: port + 1 },
  }
  await writeFile(at('network.json'), JSON.stringify(config))
  const child = spawn(process.execPath, [PROGRAM, '--config', at('network.json')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr.pipe(createWriteStream(at('log')))
  const ended = once(child, 'exit')
  stack.defer(async () => {
    child.kill('SIGTERM')
    await ended
  })
  await db.updateTable('host').set({ tunnel_address: '192.0.2.7' }).execute()
  for (const host of hosts) host.changeOverlay({ state: 'ready', uplinks: ['out'] })
  await until(
    'hosts are ready for networks, and the zone is open',
    async () => {
      const zone = await db.selectFrom('network_zone').select('opened').executeTakeFirstOrThrow()
      const ready = await db
        .selectFrom('host')
        .select('id')
        .where('overlay', '=', 'ready')
        .execute()
      return zone.opened !== '0' && ready.length === hosts.length
    },
    WAIT_MS,
  )
  return stack.move()
}
