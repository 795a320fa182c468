// The projection of a zone under one fencing token: the programs of OVN, filled with everything before hosts may read it.
import { chmod, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import type { Kysely } from 'kysely'

import type { HeldZone } from '../database/lease.ts'
import {
  readCarriedGateways,
  readHosts,
  readJoined,
  readRunningNics,
} from '../database/read-places.ts'
import {
  startEngines,
  type EngineContext,
  type Engines,
  type HostListener,
} from '../engines/engines.ts'
import { waitUntilCompiled } from '../ovn/compile.ts'
import { takeFence } from '../ovn/fence.ts'
import { followNorthbound } from '../ovn/follow-northbound.ts'
import { prefillHosts, prefillPorts } from '../ovn/prefill-southbound.ts'
import type { NorthboundWriter } from '../ovn/write-units.ts'
import { makeHostRemoval, type HostRemoval } from './host-removal.ts'
import { projectAll } from './project-units.ts'

export interface ZoneContext<DB> extends Omit<EngineContext, 'place'> {
  readonly database: Kysely<DB>
  /** The directory of OVN's databases. */
  readonly data: string
  readonly tls: EngineContext['place']['tls']
  readonly protected: readonly string[]
  readonly listen: HostListener
}

export interface Projection extends AsyncDisposable, HostRemoval {
  readonly held: HeldZone
  readonly engines: Engines
  readonly writer: NorthboundWriter
  readonly isOpen: boolean
  /** Units that failed when it was filled, so that they have no rows at all; without those that were projected since. */
  readonly missing: Set<string>
  /** One of its programs has ended. */
  readonly isBroken: boolean
  /** Lets hosts in. */
  open(): Promise<void>
}

const OWNER_ONLY = 0o700

/** Starts OVN's programs and fills them. No host can connect yet. */
export async function fillProjection<DB>(
  context: ZoneContext<DB>,
  held: HeldZone,
  signal: AbortSignal,
): Promise<Projection> {
  const { database, data, log } = context
  await mkdir(data, { recursive: true, mode: OWNER_ONLY })
  await chmod(data, OWNER_ONLY)
  const place = { directory: join(data, held.token), tls: context.tls }
  await using started = new AsyncDisposableStack()
  const engines = started.use(await startEngines({ ...context, place }))
  await takeFence(engines.northbound, held.token)
  const copy = await followNorthbound(engines.northbound)
  const writer = { database: engines.northbound, copy, token: held.token }
  const { operations, failed: missing } = await projectAll({ ...context, held, writer })
  log(`${operations} rows are written; northd compiles them`)
  let isOpen = false
  const { forgetHosts, forgetLeft } = await makeHostRemoval({
    engines,
    readJoined: () => readJoined(database, held.zone),
    isOpen: () => isOpen,
    log,
  })
  await forgetHosts()
  for (const host of await prefillHosts(engines.southbound, await readHosts(database, held.zone))) {
    log(
      `host ${host.name} has the tunnel address ${host.tunnelAddress} of another host: give it one of its own, or no tunnel leads to it`,
    )
  }
  await engines.startNorthd()
  const failed = engines.failed.then((fault) => Promise.reject(fault))
  await Promise.race([waitUntilCompiled(engines.northbound, held.token, signal), failed])
  await prefillPorts(engines.southbound, [
    ...(await readRunningNics(database, held.zone)),
    ...(await readCarriedGateways(database, held.zone)),
  ])
  log(`the projection of token ${held.token} is complete`)
  const all = started.move()
  let isBroken = false
  void engines.failed.then(() => (isBroken = true))
  return {
    held,
    engines,
    writer,
    missing: new Set(missing),
    get isOpen() {
      return isOpen
    },
    get isBroken() {
      return isBroken
    },
    async open() {
      await engines.open(context.listen)
      isOpen = true
      await removeOthers(data, held.token)
    },
    forgetHosts,
    forgetLeft,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** Databases of other tokens are never used again: this server holds a newer one. */
async function removeOthers(data: string, token: string): Promise<void> {
  for (const name of await readdir(data)) {
    if (name !== token && /^\d+$/.test(name)) await rm(join(data, name), { recursive: true })
  }
}
