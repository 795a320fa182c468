// A cell in a process of its own, so that it can be killed: node cell-process.ts CONFIG.json IDENTITY.json
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'

import { openDatabase } from '@skerry/postgres'
import { makeSeal } from '@skerry/service'

import { startCell } from '../src/cell.ts'
import { readConfig } from '../src/config.ts'
import { openMachineDoor } from '../src/machine/server.ts'
import { actingAs } from '../src/store/acting-as.ts'
import type { Database } from '../src/store/database.ts'
import { issuing } from './machine-door.ts'

const [config = '', identity = ''] = process.argv.slice(2)
const { machine, tls, sealKey, door } = JSON.parse(readFileSync(identity, 'utf8'))
const log = (message: string, cause?: unknown) =>
  void process.stderr.write(`${message} ${(cause as Error | undefined)?.stack ?? ''}\n`)
const { machines, database, images } = await readConfig(config)
const cell = await startCell(await readConfig(config), {
  clock: { now: () => new Date() },
  ids: {
    uuid: () => randomUUID(),
    secret: () => randomBytes(32).toString('base64url'),
    salt: () => randomBytes(16),
  },
  log,
  identity: () => machine,
  tls: () => tls,
  seal: makeSeal(
    () => sealKey,
    () => randomBytes(12),
  ),
})
// Machines are let in where the test has issued a certificate for their door.
if (door !== undefined) {
  const db = openDatabase<Database>({
    ...{ url: actingAs(database, 'skerry_system'), applicationName: 'machines' },
  })
  const machineDoor = openMachineDoor({
    ...{ db, identity: () => door, issuing, images, log },
    forWorkflows: () => cell.forWorkflows,
  })
  machineDoor.server.listen({ host: machines.address, port: machines.port })
  await once(machineDoor.server, 'listening')
}
process.stdout.write('up\n')
