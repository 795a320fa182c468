import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import { makeSeal } from '@skerry/service'

import { Fitness } from '../cell/fitness.ts'
import type { CommandContext } from '../command-line/command.ts'
import { beginPreparing } from '../command-line/prepare-tables.ts'
import { withDatabase } from '../command-line/with-store.ts'
import type { CloudConfig } from '../config.ts'
import { cellLogins, type CellLogins } from '../database/acting-as.ts'
import { makeCursors } from '../feeds/event-cursors.ts'
import { readIdentity } from '../identity/issuers.ts'
import { openIdentity } from '../identity/keep-identity.ts'
import { readNetworkIssuers } from '../identity/network-issuers.ts'
import type { ForWorkflows } from '../machine-api/context.ts'
import { openMachineListener } from '../machine-api/server.ts'

/** Runs the cell until a stop signal: both listeners, the worker, and the sessions with hosts. */
export async function serve(
  {
    issuing: signing,
    uuid,
    secret,
    salt,
    log,
    stopped,
  }: Omit<CommandContext, 'print' | 'readInput'> & { readonly stopped: AbortSignal },
  config: CloudConfig,
): Promise<void> {
  const logins = await readLogins(config)
  await withDatabase({ database: logins.skerry_system.url }, async (db) => {
    // Only this command needs the cell and Temporal's worker, which is slow to load.
    const { startCell } = await import('../cell/start-cell.ts')
    await using opened = new AsyncDisposableStack()
    const pause = (ms: number) => sleep(ms, undefined, { signal: stopped }).catch(() => undefined)
    const prepared = await beginPreparing({ ...config, logins }, { pause, log, stopped })
    // Renewal starts once everything is open.
    const renewed = () => {
      api.renewed()
      cell.renewed()
    }
    const cert = () => kept.current().cell.cert
    const fitness = new Fitness({ cell: config.cell, db, clock: signing.clock, cert, log })
    const issuing = { ...signing, clock: fitness.signingClock }
    const kept = await openIdentity({ config, db, issuing, pause, log, renewed })
    // Before anything is signed or any task is claimed.
    await fitness.check().catch((error: unknown) => log('the clock could not be checked', error))
    const { images } = config
    let answering: ForWorkflows | undefined
    const api = opened.use(
      openMachineListener({
        db,
        identity: () => kept.current(),
        issuing,
        networkIssuers: () => readNetworkIssuers(config.identity),
        images,
        log,
        forWorkflows: () => answering,
      }),
    )
    api.server.listen({ host: config.machines.address, port: config.machines.port })
    await once(api.server, 'listening')
    const identity = () => {
      const { cell, trusted } = kept.current()
      return { ...cell, ca: trusted.hosts }
    }
    const toTemporal = () => {
      const { cell, trusted } = kept.current()
      return { ...cell, ca: trusted.control }
    }
    const tls = () => kept.current().server
    const site = () => kept.current().trusted.site
    const machine = { identity, toTemporal, tls, site }
    const given = { clock: signing.clock, ids: { uuid, secret, salt }, ...machine }
    const seal = makeSeal(() => kept.current().sealKey, salt)
    const eventCursors = makeCursors(() => kept.current().sealKey)
    const cell = opened.use(
      await startCell(config, { ...given, log, seal, logins, eventCursors, fitness }),
    )
    answering = cell.forWorkflows
    await Promise.all([prepared(), kept.keep(stopped)])
  })
}

async function readLogins(config: CloudConfig): Promise<CellLogins> {
  const { sealKey } = await readIdentity(config.identity)
  if (sealKey !== undefined) return cellLogins(config, sealKey)
  throw new Fault(
    'conflict',
    'this cell has no seal key, from which its database logins are derived',
    {
      hint: 'run skerry admin init again to create one; for another cell: skerry admin cell create',
    },
  )
}
