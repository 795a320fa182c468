// Joins hosts of a lab to its cloud, with the product's own invitation.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { LabHost } from '../host/host.ts'
import { VMD_PROGRAM } from '../host/vmd.ts'
import type { Postgres } from '../postgres/postgres.ts'
import { SLOW_POLL_MS, until } from '../system/wait.ts'
import type { Administer } from './administer.ts'
import { CLOUD_DATABASE, type CellPlan } from './cloud-plan.ts'

const OPEN_TIMEOUT_MS = 120_000

/** A host as the cloud reports it. */
export interface HostRow {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly enabled: boolean
  readonly seen: boolean
}

/** Joins every host that has not joined yet, with vmd running on it. */
export async function joinHosts(
  administer: Administer,
  hosts: readonly LabHost[],
  cells: readonly CellPlan[],
): Promise<void> {
  const apis = cells.flatMap(({ machines: { address, port } }) => [
    '--cloud',
    `https://${address}:${port}`,
  ])
  const joinOne = async (host: LabHost) => {
    if (!existsSync(join(host.dir, 'skerry', 'cloud', 'certificate.pem'))) {
      const { token, fingerprint } = (await administer(['host', 'invite'])) as Record<
        string,
        string
      >
      const invitation = ['--token', token ?? '', '--fingerprint', fingerprint ?? '']
      const command = [process.execPath, VMD_PROGRAM, 'join', ...apis, ...invitation]
      const { code, stderr } = await host.run(command)
      if (code !== 0) throw new Error(`${host.name} cannot join: ${stderr.trim()}`)
      // It opens the machine listener when it starts.
      await host.killVmd('SIGTERM')
    }
    await host.startVmd()
  }
  await Promise.all(hosts.map(joinOne))
}

export async function listHosts(administer: Administer): Promise<readonly HostRow[]> {
  return (await administer(['host', 'list'])) as readonly HostRow[]
}

/** Waits until the cloud places VMs on these hosts. Queries the database: a command each time would keep a core busy. */
export async function untilOpen(postgres: Postgres, names: readonly string[]): Promise<void> {
  const open = `select name from host where state = 'joined' and enabled
    and follow_until > clock_timestamp() and list_session = session`
  await until(
    `${names.join(', ')} should be open for placement`,
    async () => {
      const rows = (await postgres.psql(open, CLOUD_DATABASE)).split('\n')
      return names.every((name) => rows.includes(name))
    },
    OPEN_TIMEOUT_MS,
    SLOW_POLL_MS,
  )
}
