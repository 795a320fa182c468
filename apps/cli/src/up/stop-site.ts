import type { World } from '../command.ts'
import { keeperOf } from './keeper.ts'
import type { Site } from './site.ts'

/** Stops every server of a site that runs, the last one that was started first; answers what each is called. */
export async function stopSite(
  world: Pick<World, 'now' | 'wait' | 'listens'>,
  site: Site,
  tell: (title: string) => void = () => undefined,
): Promise<readonly string[]> {
  const keeper = keeperOf(site, world)
  const stopped: string[] = []
  for (const server of site.servers.toReversed()) {
    tell(server.title)
    if (await keeper.stop(server)) stopped.push(server.title)
  }
  return stopped
}
