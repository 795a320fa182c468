// The control plane of a lab's networks: the network server with OVN's programs, and the controllers of the hosts.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { until, type Lab, type LabServer } from '@skerry/lab'
import { ovnFiles } from '@skerry/site'

import { signalTo } from '../../../tools/lab/src/system/processes.ts'
import { readOvn } from '../../network/network-site.ts'

const WAIT_MS = 120_000
const OPENED = /the zone is open at/g

export interface ControlPlane {
  /** Kills northd and both databases with SIGKILL; the network server starts them again. */
  killPrograms(): Promise<void>
  /** Kills the network server, its programs, and the controllers of all hosts. */
  killAll(): Promise<void>
  /** Deletes both databases with their disks, and starts the network server. */
  loseDatabases(): Promise<void>
  /** Starts what does not run, and waits until all hosts are connected. */
  start(): Promise<void>
  /** The keys in tunnels, by the names of ports. */
  keys(): Promise<readonly string[]>
}

export function controlPlaneOf(lab: Lab): ControlPlane {
  const server = lab.cloud?.network
  assert.ok(server)
  const data = join(dirname(server.log), 'data')
  const token = async () => (await readdir(data)).toSorted().at(-1) ?? ''
  const untilConnected = () =>
    until(
      'all hosts are connected',
      async () => {
        const asked = lab.hosts.map((host) =>
          host.run(['ovn-appctl', '-t', 'ovn-controller', 'connection-status']),
        )
        return (await Promise.all(asked)).every(({ stdout }) => stdout.trim() === 'connected')
      },
      WAIT_MS,
    )
  const start = async () => {
    for (const host of lab.hosts) await host.startSwitch()
    await openAgain(server, () => server.start())
    await untilConnected()
  }
  return {
    async killPrograms() {
      const at = ovnFiles(join(data, await token()))
      await openAgain(server, () => {
        // All are found first: the network server ends the others when one has ended, and may be first.
        const pids = [at.northdControl, at.northbound, at.southbound].map(pidNaming)
        for (const pid of pids) signalTo(pid, 'SIGKILL')
      })
      await untilConnected()
    },
    async killAll() {
      await server.kill()
      for (const host of lab.hosts) await host.killSwitchDaemon('ovn-controller')
    },
    async loseDatabases() {
      await server.kill()
      await rm(data, { recursive: true })
      await start()
    },
    start,
    async keys() {
      const columns = ['logical_port', 'tunnel_key']
      const read = async () =>
        readOvn({ data }, await token(), 'southbound', 'Port_Binding', columns)
      const rows = await until('the ports are read', read, WAIT_MS)
      return rows
        .map((row) => `${String(row['logical_port'])} ${String(row['tunnel_key'])}`)
        .toSorted()
    },
  }
}

/** Does something that closes the zone or finds it closed, and waits until it is open again. */
async function openAgain({ log }: LabServer, act: () => Promise<void> | void): Promise<void> {
  const openings = async () => [...(await readFile(log, 'utf8')).matchAll(OPENED)].length
  const before = await openings()
  await act()
  await until('the zone is open again', async () => (await openings()) > before, WAIT_MS)
}

/** The program with this file among its arguments. */
function pidNaming(file: string): number {
  const pids = readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))
  const found = pids.filter((pid) => argumentsOf(pid).some((word) => word.endsWith(file)))
  assert.equal(found.length, 1, file)
  return Number(found[0])
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    // It has ended.
    return []
  }
}
