import { uptime } from 'node:os'

import type { Connection } from '@skerry/libvirt'

import { closeFiles } from './disk/close-files.ts'
import { watchSpace } from './disk/full-disk.ts'
import { boundAgents } from './domain/bound-agents.ts'
import { follow } from './domain/follow.ts'
import { heal } from './heal.ts'
import { probeHypervisor } from './host/acceleration.ts'
import { Agents } from './host/agent.ts'
import { Changes } from './host/changes.ts'
import type { Hypervisor } from './host/definition.ts'
import { Endings, isGoingDown } from './host/endings.ts'
import type { Host, EngineClock, EngineIds, HostUplink, Log } from './host/host.ts'
import { KeyedLock } from './host/keyed-lock.ts'
import { KnownOverlay } from './host/known-overlay.ts'
import { KnownPowers } from './host/known-powers.ts'
import { LibvirtLink } from './host/link.ts'
import type { MoveTarget } from './host/move-protocol.ts'
import { Moves } from './host/moves.ts'
import { defaultPaths, templatesDirectory, type Paths } from './host/paths.ts'
import { makeDirectory, PASSABLE_DIRECTORY, PRIVATE_DIRECTORY } from './host/private-files.ts'
import { Records } from './host/record.ts'
import { Room } from './host/space.ts'
import { ensureFirewall, keepFirewall } from './network/firewall.ts'
import { settleAddresses } from './network/fixed-address.ts'
import { ensureNetwork } from './network/network.ts'
import { settleOrgNetworks } from './network/org-network.ts'
import { keepOverlay, settleOverlay } from './network/overlay.ts'
import { renewNetwork } from './network/renew-network.ts'
import { clearUnfinished } from './recover/clear-unfinished.ts'
import { clearUnstarted } from './recover/clear-unstarted.ts'
import { keepMoves } from './recover/keep-moves.ts'
import { keepShares } from './share/keep-shares.ts'
import { UsageHistory } from './usage/usage-history.ts'

export const SHUTDOWN_TIMEOUT_MS = 60_000

export interface HostOptions {
  readonly libvirt: { readonly socket: string; readonly uri: string }
  readonly clock: EngineClock
  readonly ids: EngineIds
  /** Monotonic milliseconds; default: since the machine started, including the time in which it slept. */
  readonly uptimeMs?: () => number
  readonly paths?: Partial<Paths>
  /** Default: detected by probing. */
  readonly hypervisor?: Hypervisor
  /** The bridges of this host that guests may join; default: none. */
  readonly bridges?: readonly string[]
  /** The networks of the site that networks of the cloud may lead to; default: none. */
  readonly uplinks?: readonly HostUplink[]
  /** Whether guests may reach the metadata addresses of the host's provider; default: no. */
  readonly metadata?: boolean
  /** How long a guest may take to shut itself down; default: one minute. */
  readonly shutdownTimeoutMs?: number
  /** Finds another host by its name; without it no guest can migrate away. */
  readonly targetOf?: (to: string) => MoveTarget | undefined
  readonly log?: Log
}

/**
 * Opens a host: loads its records, removes what a crash left incomplete, restores what a reboot
 * undid. Repairs again whenever libvirt reconnects.
 */
export async function openHost(options: HostOptions): Promise<Host> {
  const paths = { ...defaultPaths, ...options.paths }
  for (const directory of [paths.data, paths.run]) {
    await makeDirectory(directory, PASSABLE_DIRECTORY)
  }
  await makeDirectory(templatesDirectory(paths), PRIVATE_DIRECTORY)
  closeFiles(paths, options.log ?? (() => {}))
  await clearUnfinished(paths)
  const records = await Records.load(paths)
  const moves = await Moves.load(paths)
  await moves.forgetOld(options.clock.now())
  await clearUnstarted(paths, records.all())
  const hypervisor = options.hypervisor ?? (await probeHypervisor())
  const ended = new AbortController()
  const first = Promise.withResolvers<void>()
  const powers = new KnownPowers()
  const changes = new Changes()
  changes.listen(({ domain }) => powers.forgetDomain(domain))
  const host: Host = {
    link: new LibvirtLink(
      options.libvirt,
      (connection) => {
        putInOrder(host, connection).then(first.resolve, (error: unknown) => {
          host.log('failed to repair the state of the host', error)
          first.reject(error)
        })
      },
      () => clearUnstarted(paths, records.all()),
    ),
    statsLink: new LibvirtLink(options.libvirt),
    agents: new Agents(options.libvirt),
    // The holder of the lock may change the VM before libvirt emits the event.
    locks: new KeyedLock((id) => powers.forget(id)),
    records,
    moves,
    changes,
    powers,
    paths,
    hypervisor,
    endings: new Endings(isGoingDown),
    room: new Room(),
    overlay: new KnownOverlay(),
    usage: new UsageHistory(),
    bridges: options.bridges ?? [],
    uplinks: options.uplinks ?? [],
    metadata: options.metadata ?? false,
    hasFirewall: options.libvirt.uri.startsWith('qemu:'),
    shutdownTimeoutMs: options.shutdownTimeoutMs ?? SHUTDOWN_TIMEOUT_MS,
    targetOf: options.targetOf ?? (() => undefined),
    clock: options.clock,
    uptimeMs: options.uptimeMs ?? (() => uptime() * 1000),
    ids: options.ids,
    log: options.log ?? (() => {}),
    async [Symbol.asyncDispose]() {
      ended.abort()
      for (const each of [host.agents, host.statsLink, host.link]) await each[Symbol.asyncDispose]()
    },
  }
  try {
    await host.link.connection()
    await first.promise
  } catch (error) {
    await host[Symbol.asyncDispose]()
    throw error
  }
  for (const keep of [keepShares, keepMoves, watchSpace, keepFirewall, keepOverlay]) {
    keep(host, ended.signal)
  }
  return host
}

/** Establishes the preconditions of all operations, on each connection. */
export async function putInOrder(host: Host, connection: Connection): Promise<void> {
  await follow(host, connection)
  await boundAgents(host)
  // Before the network, so that no guest is ever on it without the firewall.
  await ensureFirewall(host)
  await settleAddresses(host)
  if (host.hasFirewall) await renewNetwork(host)
  await ensureNetwork(host)
  await settleOrgNetworks(host)
  await settleOverlay(host)
  // A starting network inserts libvirt's own rules in front of ours.
  await ensureFirewall(host)
  await heal(host)
  host.changes.emit({ kind: 'resync' })
}
