// Inspects the state of a site; changes nothing.
import { join } from 'node:path'

import { temporalVersion } from '@skerry/site'

import type { CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'
import { path } from '../vms/local-client.ts'
import type { Keeper } from './servers/keeper.ts'
import { missingUsers } from './servers/users.ts'
import type { SiteState, Making } from './site/decide.ts'
import { isThere, readMarks, versionOf } from './site/keep.ts'
import { files, type ServerName, type Site } from './site/site.ts'

export async function inspectSite(
  context: Pick<CliContext, 'api'>,
  site: Site,
  keeper: Keeper,
  image: string | undefined,
): Promise<SiteState> {
  const at = files(site.dir)
  const running = new Set<ServerName>()
  for (const server of site.servers) {
    if ((await keeper.running(server)) !== undefined) running.add(server.name)
  }
  const made = new Set<Making>(await readMarks(site.dir))
  if ((await missingUsers()).length === 0) made.add('users')
  else made.delete('users')
  // These three are detected by their files, which are moved into place when complete.
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
  // An existing template no longer needs its image.
  if (made.has('template')) made.add('image')
  const otherVmd = !running.has('vmd') && (await answers(context))
  return { servers: site.servers.map(({ name }) => name), running, made, otherVmd }
}

async function answers({ api }: Pick<CliContext, 'api'>): Promise<boolean> {
  try {
    await api.ask('GET', path('vms'))
    return true
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.reason !== 'unreachable'
  }
}
