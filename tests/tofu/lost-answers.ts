// Every request that changes something is carried out and its answer is lost, once: nothing is made twice, and nothing is missing.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { examples } from './cases.ts'
import type { CloudSite } from './cloud-site.ts'
import { startLosingProxy } from './losing-proxy.ts'
import { Workspace, type Site, type Variables } from './workspace.ts'

/** Names that are not taken: the cloud keeps its users, also disabled ones. */
const names: Readonly<Record<string, string>> = {
  vm: 'web-2',
  vapp: 'shop-2',
  user: 'rita-2',
  token: 'nightly-2',
}

/** Data, and rules, which are part of an edge gateway. */
const uncounted = /^(?:data|skerry_edge_rules)\./

/** Seconds of apply and destroy of each example, and the number of answers that were lost. */
export async function applyWithLostAnswers(
  site: Site,
  { cloud, api }: CloudSite,
): Promise<Readonly<Record<string, number>>> {
  await using proxy = await startLosingProxy(cloud.cells[0]?.url ?? '', cloud.ca)
  const ca = join(site.folder, 'proxy.pem')
  await writeFile(ca, proxy.ca)
  const through = { ...site, env: { ...site.env, SKERRY_URL: proxy.url, SKERRY_CA: ca } }
  const seconds: Record<string, number> = {}
  for (const { name, first, left } of examples) {
    const variables: Variables = { ...first, ...(name in names && { name: names[name] ?? '' }) }
    const workspace = await Workspace.open(through, name)
    const before = await countOf(cloud)
    const applied = await workspace.apply(variables)
    const state = await workspace.state()
    const { differs, ended } = await workspace.plan(variables)
    if (differs) throw new Error(`${name}: a difference after lost answers:\n${ended.text}`)
    const resources = Object.keys(state).filter((address) => !uncounted.test(address)).length
    const made = (await countOf(cloud)) - before
    if (made !== resources) throw new Error(`${name}: ${made} of ${resources} were created`)
    const destroyed = await workspace.destroy(variables)
    const remains = await left(api, state)
    if (remains.length > 0) throw new Error(`${name}: destroy left ${remains.join(', ')}`)
    seconds[name] = applied.seconds + destroyed.seconds
    await workspace.close()
  }
  return { ...seconds, lost: proxy.lost }
}

/** All that exists of what the examples create. */
async function countOf({ db }: CloudSite['cloud']): Promise<number> {
  const count = async (
    table: 'vapp' | 'network' | 'edge_gateway' | 'account' | 'access_token',
  ): Promise<number> => {
    const { all } = await db
      .selectFrom(table)
      // The first VM of an organisation gets a network and an edge gateway of this name.
      .where('name', '!=', 'default')
      .select(({ fn }) => fn.countAll<string>().as('all'))
      .executeTakeFirstOrThrow()
    return Number(all)
  }
  const tables = ['vapp', 'network', 'edge_gateway', 'account', 'access_token'] as const
  const counts = await Promise.all(tables.map(count))
  return counts.reduce((sum, each) => sum + each, 0)
}
