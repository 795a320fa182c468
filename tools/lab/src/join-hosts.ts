// Hosts of a lab become hosts of its cloud, by the product's own invitation.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { Administer } from './administer.ts'
import type { CellPlan } from './cloud-plan.ts'
import type { LabHost } from './host.ts'
import { VMD_PROGRAM } from './vmd.ts'
import { until } from './wait.ts'

const OPEN_TIMEOUT_MS = 120_000

/** What a cloud says of a host. */
export interface HostRow {
  readonly id: string
  readonly name: string
  readonly state: string
  readonly enabled: boolean
  readonly seen: boolean
}

/** Lets every host join that has not yet, with vmd running on it. */
export async function joinHosts(
  administer: Administer,
  hosts: readonly LabHost[],
  cells: readonly CellPlan[],
): Promise<void> {
  const doors = cells.flatMap(({ machines: { address, port } }) => [
    ...['--cloud', `https://${address}:${port}`],
  ])
  const joinOne = async (host: LabHost) => {
    if (!existsSync(join(host.dir, 'skerry', 'cloud', 'certificate.pem'))) {
      const { token, fingerprint } = (await administer(['invite'])) as Record<string, string>
      const invitation = ['--token', token ?? '', '--fingerprint', fingerprint ?? '']
      const command = [process.execPath, VMD_PROGRAM, 'join', ...doors, ...invitation]
      const { code, stderr } = await host.run(command)
      if (code !== 0) throw new Error(`${host.name} could not join: ${stderr.trim()}`)
      // It opens the cloud's door when it starts.
      await host.killVmd('SIGTERM')
    }
    await host.startVmd()
  }
  await Promise.all(hosts.map(joinOne))
}

export async function listHosts(administer: Administer): Promise<readonly HostRow[]> {
  return (await administer(['host', 'list'])) as readonly HostRow[]
}

/** Waits until the cloud sees these hosts and would place VMs on them. */
export async function untilOpen(administer: Administer, names: readonly string[]): Promise<void> {
  await until(
    `${names.join(', ')} should be open for placement`,
    async () => {
      const rows = await listHosts(administer)
      const open = rows.filter(({ enabled, seen, state }) => enabled && seen && state === 'joined')
      return names.every((name) => open.some((row) => row.name === name))
    },
    OPEN_TIMEOUT_MS,
  )
}
