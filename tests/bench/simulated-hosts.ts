// Many simulated hosts in one process, each with its own certificate from the real join and the real host API over mTLS. Reads
// commands as lines of JSON, answers each with a line: node simulated-hosts.ts
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { Fault } from '@skerry/fault'
import { hostServer, type Epochs } from '@skerry/host-api'
import { until } from '@skerry/lab'
import { simulatedHost, type SimulatedHost } from '@skerry/lab/simulated-host'
import type { Vm, VmId } from '@skerry/vm'

import { joinCloud } from '../../apps/vmd/src/host/join.ts'
import { readMembership, type Membership } from '../../apps/vmd/src/host/membership.ts'

/** A host to create: its address, its invitation, and its VMs. */
export interface Planned {
  readonly name: string
  readonly directory: string
  readonly address: string
  readonly port: number
  readonly token: string
  readonly vms: readonly { readonly id: VmId; readonly power: 'on' | 'off' }[]
}

/** The commands of this process. */
export type HostCommand =
  | {
      readonly do: 'join'
      readonly hosts: readonly Planned[]
      readonly cell: string
      readonly fingerprint: string
    }
  | { readonly do: 'serve' }
  /** These VMs start by themselves, as if they were started on the host. */
  | { readonly do: 'start'; readonly vms: readonly VmId[] }

/** Concurrent joins. */
const LANES = 4
const JOIN_MS = 120_000

const joined = new Map<string, { readonly planned: Planned; readonly membership: Membership }>()
const homes = new Map<VmId, SimulatedHost>()

for await (const line of createInterface({ input: process.stdin })) {
  const result = await execute(JSON.parse(line) as HostCommand)
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
process.exit()

async function execute(command: HostCommand): Promise<unknown> {
  if (command.do === 'join') return joinAll(command)
  if (command.do === 'serve') return serveAll()
  for (const vm of command.vms) homes.get(vm)?.changePower(vm, 'on')
  return command.vms.length
}

/** The host id that each got from the cloud. */
async function joinAll({ hosts, cell, fingerprint }: Extract<HostCommand, { do: 'join' }>) {
  const left = [...hosts]
  const lane = async () => {
    for (let planned = left.shift(); planned; planned = left.shift()) {
      const { directory, name, address, port, token } = planned
      const invitation = { cells: [new URL(cell)], token, fingerprint }
      const machine = { directory, name, address, port }
      // With hundreds of joining machines some must retry, as vmd's own error would say.
      await until(
        `${name} joins`,
        () =>
          joinCloud(invitation, machine).catch((error: unknown) => {
            if (error instanceof Fault && error.kind === 'unavailable') return undefined
            throw error
          }),
        JOIN_MS,
      )
      const membership = await readMembership(directory)
      if (!membership) throw new Error(`${name} joined and knows nothing of it`)
      joined.set(name, { planned, membership })
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return Object.fromEntries([...joined].map(([name, { membership }]) => [name, membership.host]))
}

async function serveAll(): Promise<number> {
  for (const { planned, membership } of joined.values()) {
    const vms = planned.vms.map(({ id, power }): Vm => ({
      id,
      name: id,
      tag: '',
      power,
      incarnation: '1',
      boot: power === 'on' ? `boot-${id}` : null,
      cpus: 1,
      memoryMiB: 64,
      diskMiB: 64,
      nested: false,
      autostart: false,
      sharing: false,
    }))
    const host = simulatedHost({ vms })
    for (const { id } of vms) homes.set(id, host)
    const { cloud, identity } = membership
    const server = hostServer(identity, host, { cloud, epochs: inMemory() })
    server.listen(planned.port, planned.address)
    await once(server, 'listening')
  }
  return joined.size
}

function inMemory(): Epochs {
  let highest = 0
  return {
    get highest() {
      return highest
    },
    raise: async (epoch) => {
      highest = Math.max(highest, epoch)
    },
  }
}
