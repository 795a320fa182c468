import { Fault } from '@skerry/fault'
import { attribute, element } from '@skerry/xml'

import { nameIn, readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

export interface SnapshotRequest {
  readonly name?: string
  /** Default: with memory if the VM runs. */
  readonly memory?: boolean
}

/** An empty body means the defaults. */
export const createSnapshotParams: RequestDocument<SnapshotRequest> = {
  media: 'createSnapshotParams',
  shape: 'CreateSnapshotParams',
  example: ({ name = 'before-upgrade' }) =>
    element('CreateSnapshotParams', { name, memory: true }, element('Description', {})),
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
