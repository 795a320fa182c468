// A small cloud with networks, and a system administrator with an API token.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

import { until } from '@skerry/lab'
import { listenTo } from '@skerry/postgres'

import { hashPassword } from '../../apps/cloud/src/auth/password.ts'
import { addExternalRow } from '../../apps/cloud/test/edge-rows.ts'
import { openZone, projectAll } from '../../apps/cloud/test/open-zone.ts'
import {
  PASSWORD,
  startSmallCloud,
  untilOpen,
  type SmallCloud,
} from '../../apps/cloud/test/small-cloud.ts'
import { JsonApi } from './json-api.ts'

export interface CloudSite extends AsyncDisposable {
  readonly cloud: SmallCloud
  readonly api: JsonApi
  readonly token: string
}

const HOSTS = 2

export async function openCloudSite(): Promise<CloudSite> {
  await using stack = new AsyncDisposableStack()
  const cloud = stack.use(await startSmallCloud({ cells: 1, hosts: HOSTS }))
  await untilOpen(cloud.db, HOSTS)
  await openNetworks(cloud, stack)
  const { id: org } = await cloud.db
    .selectFrom('org')
    .select('id')
    .where('name', '=', 'eng')
    .executeTakeFirstOrThrow()
  const password = await hashPassword(PASSWORD, randomBytes(16))
  await cloud.db
    .insertInto('account')
    .values({ org, name: 'root', role: 'system administrator', password })
    .execute()
  const url = cloud.cells[0]?.url ?? ''
  const { api, token } = await JsonApi.withToken(url, cloud.ca, `root@eng:${PASSWORD}`, 'tofu')
  const all = stack.move()
  return { cloud, api, token, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

/** Hosts with a switch and an uplink; changes of networks end as soon as PostgreSQL notifies of them. */
async function openNetworks(cloud: SmallCloud, stack: AsyncDisposableStack): Promise<void> {
  const { db, hosts, postgres } = cloud
  const [first] = hosts
  if (!first) throw new TypeError('the cloud has no host')
  const zone = await openZone(db, first.id)
  for (const host of hosts) host.changeOverlay({ state: 'ready', uplinks: ['lan', 'out'] })
  await until('the hosts are ready for networks', async () => {
    const rows = await db.selectFrom('host').select(['overlay', 'uplinks']).execute()
    return rows.every(({ overlay, uplinks }) => overlay === 'ready' && uplinks.includes('lan'))
  })
  await addExternalRow(db, 'internet')
  // A busy database may refuse a connection; a change that is not projected would be waited for without end.
  const project = () =>
    projectAll(db, zone).then(
      () => true,
      () => false,
    )
  let work: Promise<unknown> = Promise.resolve()
  const over = new AbortController()
  const listening = listenTo(
    {
      url: postgres.urlOf('cloud'),
      applicationName: 'network server',
      channel: 'skerry_network',
      notified: () => {
        work = work.then(() => until('changes of networks are projected', project))
      },
      pause: (ms, signal) => sleep(ms, undefined, { signal }),
    },
    over.signal,
  )
  stack.defer(async () => {
    over.abort()
    await Promise.allSettled([listening, work])
  })
}
