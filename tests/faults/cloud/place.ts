// The cloud of a storm: a lab's, with access to its state without its own API.
import { readFileSync } from 'node:fs'

import type { Lab, LabCloud, LabHost } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import { connectTemporal, type TemporalClient } from '@skerry/temporal'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../../../apps/cloud/src/database/tables.ts'
import { CloudClient } from '../../../apps/cloud/test/cloud-client.ts'
import { QemuWatch } from './qemu-watch.ts'

export interface Place extends AsyncDisposable {
  readonly hosts: readonly LabHost[]
  readonly cloud: LabCloud
  readonly db: Kysely<CloudTables>
  readonly temporal: TemporalClient
  /** Every QEMU of the cloud, as the kernel shows them. */
  readonly qemus: QemuWatch
  /** The balancer and each cell. */
  readonly ways: readonly [string, ...string[]]
  /** A client of each tenant. */
  readonly clients: readonly CloudClient[]
}

export async function openPlace({ hosts, cloud }: Lab): Promise<Place> {
  if (!cloud) throw new Error('this lab has no cloud: start it with cells')
  await using stack = new AsyncDisposableStack()
  const db = openDatabase<CloudTables>({
    url: cloud.postgres.urlOf('cloud'),
    applicationName: 'storm',
  })
  stack.defer(() => db.destroy())
  const temporal = stack.use(connectTemporal(cloud.temporal))
  const qemus = stack.use(new QemuWatch())
  const ca = readFileSync(cloud.ca, 'utf8')
  const clients = await Promise.all(
    cloud.tenants.map(({ user, org, password }) =>
      CloudClient.logIn(cloud.url, ca, `${user}@${org}`, password),
    ),
  )
  const all = stack.move()
  return {
    hosts,
    cloud,
    db,
    temporal,
    qemus,
    clients,
    ways: [cloud.url, ...cloud.cells.map(({ url }) => url)],
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
