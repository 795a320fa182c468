import { Fault } from '@skerry/fault'
import type { Body } from '@skerry/service'
import { attribute } from '@skerry/xml'

import { nameIn, readRoot } from './named.ts'

export interface SnapshotRequest {
  readonly name?: string
  /** Default: with memory if the VM runs. */
  readonly memory?: boolean
}

/** An empty body means the defaults. */
export const createSnapshotParams: Body<SnapshotRequest> = {
  media: 'createSnapshotParams',
  shape: 'CreateSnapshotParams',
  read(raw) {
    if (raw.trim() === '') return {}
    const root = readRoot(raw, 'CreateSnapshotParams')
    const memory = attribute(root, 'memory')
    if (memory !== undefined && !['true', 'false', '1', '0'].includes(memory)) {
      throw new Fault('invalid', 'memory must be true or false')
    }
    return {
      ...(attribute(root, 'name') !== undefined && { name: nameIn(root) }),
      ...(memory !== undefined && { memory: memory === 'true' || memory === '1' }),
    }
  },
}
