import { removeUnfinished } from '@skerry/durable-file'
import { keepRenewed, lifetimes, type Renewal } from '@skerry/service'
import type { Kysely } from 'kysely'

import type { CloudConfig } from '../config.ts'
import type { CloudTables } from '../database/tables.ts'
import { readIdentity, type CellIdentity, type IssueContext } from './issuers.ts'
import { readCloud } from './machines.ts'
import { renewCell } from './renew-cell.ts'

export interface CellIdentityOptions extends Pick<Renewal, 'pause' | 'log'> {
  readonly config: Pick<CloudConfig, 'identity' | 'renewFrom' | 'base' | 'original'>
  readonly db: Kysely<CloudTables>
  readonly issuing: IssueContext
  /** Called after every renewal, so that listeners show the new certificates. */
  renewed(): void
}

export interface RenewedCellIdentity {
  /** The current identity; every new connection reads it. */
  current(): CellIdentity
  /** Renews it daily, until the signal is aborted. */
  keep(signal: AbortSignal): Promise<void>
}

/** Opens the identity of this cell, for as long as it runs. */
export async function openIdentity(context: CellIdentityOptions): Promise<RenewedCellIdentity> {
  const { config, db, issuing, pause, log } = context
  let identity = await readIdentity(config.identity)
  await removeUnfinished(config.identity)
  const epoch = async () => (await readCloud(db)).epoch
  return {
    current: () => identity,
    keep: (signal) =>
      keepRenewed(
        {
          clock: issuing.clock,
          afterMs: lifetimes.control.renewMs,
          pause,
          log,
          current: () => identity.cell.cert,
          // After skerry admin certificate revoke, a cell with issuer keys moves to the new epoch by itself; others are admitted again.
          also: async () => identity.issuers !== undefined && identity.epoch < (await epoch()),
          async renew() {
            identity = await renewCell({ config, issuing, epoch })
            context.renewed()
          },
        },
        signal,
      ),
  }
}
