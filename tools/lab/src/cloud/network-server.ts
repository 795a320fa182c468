// The network server of a lab's cloud, beside its first cell.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { Postgres } from '../postgres/postgres.ts'
import { labServer, type LabServer } from '../servers/server-process.ts'
import { SLOW_POLL_MS, until } from '../system/wait.ts'
import type { Administer } from './administer.ts'
import { CLOUD_DATABASE, type NetworkServerPlan } from './cloud-plan.ts'

const PROGRAM = join(import.meta.dirname, '../../../../apps/network/src/main.ts')
const OPEN_TIMEOUT_MS = 120_000
const READY_TIMEOUT_MS = 120_000

/** Creates and starts it, if it is down, and returns when hosts can connect. */
export async function startNetworkServer(
  plan: NetworkServerPlan,
  { administer, postgres }: { readonly administer: Administer; readonly postgres: Postgres },
  started: { readonly netns: string; readonly outlives: boolean },
): Promise<LabServer> {
  const { name, dir, config, address, data } = plan
  if (!existsSync(config)) {
    const at = ['--host', address, '--data', data]
    await administer(['network-server', 'create', name, '--out', dir, ...at])
  }
  const server = labServer({
    ...started,
    name,
    dir,
    url: plan.remote,
    // OVN's database listens for it, as a process of its own.
    ports: [],
    log: logOf(dir),
    command: [process.execPath, PROGRAM, '--config', config],
  })
  await server.start()
  await until(
    `the zone of ${name} should be open; see ${server.log}`,
    async () =>
      (await postgres.psql('select opened > 0 from network_zone', CLOUD_DATABASE)) === 't',
    OPEN_TIMEOUT_MS,
    SLOW_POLL_MS,
  )
  return server
}

/** Waits until the hosts carry networks of organisations, and lead to the world. */
export async function untilCarrying(postgres: Postgres, names: readonly string[]): Promise<void> {
  await until(
    `${names.join(', ')} should join the networks of their zone`,
    async () => {
      const ready = await postgres.psql(
        `select name from host where overlay = 'ready' and 'world' = any(uplinks)`,
        CLOUD_DATABASE,
      )
      return names.every((name) => ready.split('\n').includes(name))
    },
    READY_TIMEOUT_MS,
    SLOW_POLL_MS,
  )
}

export const logOf = (dir: string): string => join(dir, 'network.log')
