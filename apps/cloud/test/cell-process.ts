// A cell in a process of its own, so that it can be killed: node cell-process.ts CONFIG.json IDENTITY.json
import { randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'

import { startCell } from '../src/cell.ts'
import { readConfig } from '../src/config.ts'
import { makeSeal } from '../src/identity/seal.ts'

const [config = '', identity = ''] = process.argv.slice(2)
const { machine, tls, sealKey } = JSON.parse(readFileSync(identity, 'utf8'))
await startCell(await readConfig(config), {
  clock: { now: () => new Date() },
  ids: {
    uuid: () => randomUUID(),
    secret: () => randomBytes(32).toString('base64url'),
    salt: () => randomBytes(16),
  },
  log: (message, cause) =>
    void process.stderr.write(`${message} ${(cause as Error | undefined)?.stack ?? ''}\n`),
  identity: () => machine,
  tls: () => tls,
  seal: makeSeal(
    () => sealKey,
    () => randomBytes(12),
  ),
})
process.stdout.write('up\n')
