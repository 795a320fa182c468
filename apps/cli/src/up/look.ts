// Looks at what is there of a site, and changes nothing.
import { join } from 'node:path'

import { temporalVersion } from '@skerry/site'

import type { World } from '../command.ts'
import { Failure } from '../failure.ts'
import { path } from '../local-client.ts'
import type { Found, Making } from './decide.ts'
import { isThere, readMarks, versionOf } from './keep.ts'
import type { Keeper } from './keeper.ts'
import { files, type ServerName, type Site } from './site.ts'

export async function look(
  world: Pick<World, 'api'>,
  site: Site,
  keeper: Keeper,
  image: string | undefined,
): Promise<Found> {
  const at = files(site.dir)
  const running = new Set<ServerName>()
  for (const server of site.servers) {
    if ((await keeper.running(server)) !== undefined) running.add(server.name)
  }
  const made = new Set<Making>(await readMarks(site.dir))
  // These three are seen by themselves: each is put in its place whole.
  const seen = async (what: Making, ...proofs: readonly string[]) => {
    const all = await Promise.all(proofs.map(isThere))
    if (all.every(Boolean)) made.add(what)
    else made.delete(what)
  }
  const { programs } = site.settled.temporal
  if (programs) await seen('programs', programs.server, programs.sql)
  await seen('cluster', join(at.data, 'PG_VERSION'))
  await seen('image', image ?? at.image)
  if ((await versionOf(site.dir, 'tables')) !== temporalVersion) made.delete('tables')
  // A template that is there needs its image no more.
  if (made.has('template')) made.add('image')
  const otherVmd = !running.has('vmd') && (await answers(world))
  return { servers: site.servers.map(({ name }) => name), running, made, otherVmd }
}

async function answers({ api }: Pick<World, 'api'>): Promise<boolean> {
  try {
    await api.ask('GET', path('vms'))
    return true
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.reason !== 'unreachable'
  }
}
