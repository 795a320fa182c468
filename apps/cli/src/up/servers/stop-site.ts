import type { CliContext } from '../../command.ts'
import type { Site } from '../site/site.ts'
import { keeperOf } from './keeper.ts'

/** Stops all running servers of a site in reverse start order; returns their titles. */
export async function stopSite(
  context: Pick<CliContext, 'now' | 'wait' | 'listens' | 'complain'>,
  site: Site,
  report: (title: string) => void = () => undefined,
): Promise<readonly string[]> {
  const keeper = keeperOf(site, context)
  const stopped: string[] = []
  for (const server of site.servers.toReversed()) {
    report(server.title)
    if (await keeper.stop(server)) stopped.push(server.title)
  }
  return stopped
}
