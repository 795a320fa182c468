// The key of stored histories: it is no secret, it only has to be the same tomorrow.
import { randomBytes } from 'node:crypto'

import { sealedConverter } from '../src/worker/codec.ts'

export const testConverter = sealedConverter({
  keys: [{ id: 'test', key: Buffer.alloc(32, 'histories') }],
  random: (bytes) => randomBytes(bytes),
})
export const WORKFLOWS = `${import.meta.dirname}/../src/durable/workflows.ts`
