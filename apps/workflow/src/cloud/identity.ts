import { openServerIdentity, type ClientOfCells, type IdentityContext } from '@skerry/host-api'
import type { RenewedIdentity } from '@skerry/service'

export interface WorkflowIdentity extends ClientOfCells {
  /** The 256-bit key that seals secrets before they are stored. */
  readonly sealKey: string
}

/** The certificates of this server, for clients and cells, and its key. */
export const openIdentity = (
  context: IdentityContext,
): Promise<RenewedIdentity<WorkflowIdentity>> =>
  openServerIdentity(context, {
    role: 'workflow',
    more: async (_own, read) => ({ sealKey: (await read('seal.key')).trim() }),
  })
