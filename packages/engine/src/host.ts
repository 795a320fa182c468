import { mkdir } from 'node:fs/promises'

import type { Connection } from '@skerry/libvirt'

import { probeHypervisor } from './acceleration.ts'
import { Changes } from './changes.ts'
import { clearUnfinished } from './clear-unfinished.ts'
import { clearUnstarted } from './clear-unstarted.ts'
import type { Hypervisor } from './definition.ts'
import { Endings } from './endings.ts'
import { settleAddresses } from './fixed-address.ts'
import { follow } from './follow.ts'
import { watchSpace } from './full-disk.ts'
import { isGoingDown } from './going-down.ts'
import { heal } from './heal.ts'
import { keepShares } from './keep-shares.ts'
import { KnownPowers } from './known-powers.ts'
import { Link } from './link.ts'
import { ensureNetwork } from './network.ts'
import { settleOrgNetworks } from './org-network.ts'
import { defaultPaths, templatesDirectory, type Paths } from './paths.ts'
import { Records } from './record.ts'
import { renewNetwork } from './renew-network.ts'
import { Turns } from './turns.ts'
import { ensureWall, keepWall } from './wall.ts'

const SHUTDOWN_TIMEOUT_MS = 60_000

/** One hypervisor host and all that must be shared while we drive it. */
export interface Host extends AsyncDisposable {
  readonly link: Link
  readonly turns: Turns
  readonly records: Records
  readonly changes: Changes
  readonly powers: KnownPowers
  readonly endings: Endings
  readonly paths: Paths
  readonly hypervisor: Hypervisor
  /** The bridges that guests may join. */
  readonly bridges: readonly string[]
  /** Not where networks are such in name only, as those of libvirt's in-memory driver. */
  readonly hasWall: boolean
  /** How long a guest may take to shut itself down. */
  readonly shutdownTimeoutMs: number
  readonly clock: Clock
  readonly ids: Ids
  /** For the log: what went wrong where nobody waits for an answer. */
  readonly note: Note
}

export interface Clock {
  now(): Date
}
export interface Ids {
  uuid(): string
}
export type Note = (message: string, cause?: unknown) => void

export interface HostOptions {
  readonly libvirt: { readonly socket: string; readonly uri: string }
  readonly clock: Clock
  readonly ids: Ids
  readonly paths?: Partial<Paths>
  /** Found out by trying when it is left out. */
  readonly hypervisor?: Hypervisor
  /** The bridges of this host that guests may join when they are asked to; none when it is left out. */
  readonly bridges?: readonly string[]
  /** How long a guest may take to shut itself down; a minute when it is left out. */
  readonly shutdownTimeoutMs?: number
  readonly note?: Note
}

/**
 * Opens a host: reads what it must remember, takes away what a crash left half done, puts back
 * what a reboot undid. Does so again whenever libvirt comes back.
 */
export async function openHost(options: HostOptions): Promise<Host> {
  const paths = { ...defaultPaths, ...options.paths }
  for (const directory of [paths.data, templatesDirectory(paths), paths.run]) {
    await mkdir(directory, { recursive: true, mode: 0o711 })
  }
  await clearUnfinished(paths)
  const records = await Records.load(paths)
  await clearUnstarted(paths, records.all())
  const hypervisor = options.hypervisor ?? (await probeHypervisor())
  const ended = new AbortController()
  const first = Promise.withResolvers<void>()
  const powers = new KnownPowers()
  const changes = new Changes()
  changes.listen(({ domain }) => powers.forgetDomain(domain))
  const host: Host = {
    link: new Link(
      options.libvirt,
      (connection) => {
        welcome(connection).then(first.resolve, (error: unknown) => {
          host.note('could not put the host in order', error)
          first.reject(error)
        })
      },
      () => clearUnstarted(paths, records.all()),
    ),
    // Whoever has a turn may change the VM before libvirt tells of it.
    turns: new Turns((id) => powers.forget(id)),
    ...{ records, changes, powers, paths, hypervisor },
    endings: new Endings(isGoingDown),
    bridges: options.bridges ?? [],
    hasWall: options.libvirt.uri.startsWith('qemu:'),
    shutdownTimeoutMs: options.shutdownTimeoutMs ?? SHUTDOWN_TIMEOUT_MS,
    clock: options.clock,
    ids: options.ids,
    note: options.note ?? (() => {}),
    async [Symbol.asyncDispose]() {
      ended.abort()
      await host.link[Symbol.asyncDispose]()
    },
  }
  async function welcome(connection: Connection): Promise<void> {
    await follow(host, connection)
    // Before the network, so that no guest is ever on it without the wall.
    await ensureWall(host)
    await settleAddresses(host)
    if (host.hasWall) await renewNetwork(host)
    await ensureNetwork(host)
    await settleOrgNetworks(host)
    // A network that starts puts rules of libvirt's own in front of it.
    await ensureWall(host)
    await heal(host)
    host.changes.tell({ kind: 'resync' })
  }
  try {
    await host.link.connection()
    await first.promise
  } catch (error) {
    await host[Symbol.asyncDispose]()
    throw error
  }
  keepShares(host, ended.signal)
  watchSpace(host, ended.signal)
  keepWall(host, ended.signal)
  return host
}
