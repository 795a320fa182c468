// A cell in its own process, so that it can be killed: node cell-process.ts CONFIG.json IDENTITY.json
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'

import { openDatabase } from '@skerry/postgres'
import { makeSeal } from '@skerry/service'

import { Fitness } from '../src/cell/fitness.ts'
import { startCell } from '../src/cell/start-cell.ts'
import { readConfig } from '../src/config.ts'
import { actingAs, cellLogins } from '../src/database/acting-as.ts'
import type { CloudTables } from '../src/database/tables.ts'
import { makeCursors } from '../src/feeds/event-cursors.ts'
import { openMachineListener } from '../src/machine-api/server.ts'
import { issuing } from './machine-api.ts'

const [config = '', identity = ''] = process.argv.slice(2)
const { machine, tls, sealKey, api } = JSON.parse(readFileSync(identity, 'utf8'))
const log = (message: string, cause?: unknown) =>
  void process.stderr.write(`${message} ${(cause as Error | undefined)?.stack ?? ''}\n`)
const read = await readConfig(config)
const { machines, images } = read
const logins = cellLogins(read, sealKey)
const clock = { now: () => new Date() }
const db = openDatabase<CloudTables>({
  url: actingAs(logins.skerry_system.url, 'skerry_system'),
  applicationName: 'machines',
})
const cert = () => machine.cert as string
const fitness = new Fitness({ cell: read.cell, db, clock, cert, log })
await fitness.check().catch((error: unknown) => log('the clock could not be checked', error))
const cell = await startCell(read, {
  clock,
  fitness,
  ids: {
    uuid: () => randomUUID(),
    secret: () => randomBytes(32).toString('base64url'),
    salt: () => randomBytes(16),
  },
  log,
  logins,
  identity: () => machine,
  toTemporal: () => machine,
  tls: () => tls,
  site: () => api?.trusted?.site,
  eventCursors: makeCursors(() => sealKey),
  seal: makeSeal(
    () => sealKey,
    () => randomBytes(12),
  ),
})
// The machine API is open if the test has issued a certificate for it.
if (api !== undefined) {
  const machineDoor = openMachineListener({
    db,
    identity: () => api,
    issuing,
    images,
    log,
    forWorkflows: () => cell.forWorkflows,
  })
  machineDoor.server.listen({ host: machines.address, port: machines.port })
  await once(machineDoor.server, 'listening')
}
process.stdout.write('up\n')
// It will be killed: without this its modules are compiled at each start.
flushCompileCache()
