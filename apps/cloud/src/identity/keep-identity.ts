import { keepRenewed, lifetimes, type Renewal } from '@skerry/service'
import type { Kysely } from 'kysely'

import type { Config } from '../config.ts'
import type { Database } from '../store/database.ts'
import { readCloud } from '../store/machines.ts'
import { readIdentity, type CellIdentity, type Issuing } from './issuers.ts'
import { renewCell } from './renew-cell.ts'

export interface KeepingIdentity extends Pick<Renewal, 'pause' | 'log'> {
  readonly config: Pick<Config, 'identity' | 'renewFrom' | 'base' | 'original'>
  readonly db: Kysely<Database>
  readonly issuing: Issuing
  /** Told after every renewal, so that listeners show what is new. */
  renewed(): void
}

export interface KeptIdentity {
  /** As it is now. Whoever dials asks for it each time. */
  current(): CellIdentity
  /** Renews it daily, until the signal says otherwise. */
  keep(signal: AbortSignal): Promise<void>
}

/** Who this cell is, for as long as it runs. */
export async function openIdentity(world: KeepingIdentity): Promise<KeptIdentity> {
  const { config, db, issuing, pause, log } = world
  let identity = await readIdentity(config.identity)
  const epoch = async () => (await readCloud(db)).epoch
  return {
    current: () => identity,
    keep: (signal) =>
      keepRenewed(
        {
          ...{ clock: issuing.clock, afterMs: lifetimes.control.renewMs, pause, log },
          current: () => identity.cell.cert,
          // After a recall a cell that may issue is of the new epoch by itself; any other must be let in again.
          also: async () => identity.issuers !== undefined && identity.epoch < (await epoch()),
          async renew() {
            identity = await renewCell({ config, issuing, epoch })
            world.renewed()
          },
        },
        signal,
      ),
  }
}
