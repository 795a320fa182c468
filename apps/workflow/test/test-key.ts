// The key of stored histories: not a secret, it only has to stay the same.
import { randomBytes } from 'node:crypto'

import { sealedConverter } from '../src/runs/codec.ts'

export const testConverter = sealedConverter({
  keys: [{ id: 'test', key: Buffer.alloc(32, 'histories') }],
  random: (bytes) => randomBytes(bytes),
})
export const WORKFLOWS = `${import.meta.dirname}/../src/durable/workflows.ts`
