import { inOrg } from '@skerry/postgres'
import type { Clock, Ids } from '@skerry/service'
import type { FastifyInstance } from 'fastify'

import type { Config } from './config.ts'
import { openEngines, type Engines } from './engines.ts'
import type { Identity } from './hosts/connect.ts'
import { ours } from './http/dialect.ts'
import { buildServer, showCertificate, type ServerCertificate } from './http/server.ts'
import { hashPassword } from './identity/password.ts'
import type { Seal } from './identity/seal.ts'
import { makeSessions } from './identity/sessions.ts'
import { openUploads } from './images/uploads.ts'
import { routes } from './routes.ts'
import { startWork } from './worker/start-work.ts'
import type { RequestWorld } from './world.ts'

export interface Given {
  readonly clock: Clock
  readonly ids: Ids & { salt(): Buffer }
  readonly log: (message: string, cause?: unknown) => void
  /** What this cell is to other machines. */
  readonly identity: () => Identity
  /** What it is to clients, as it is at that moment. */
  readonly tls: () => ServerCertificate
  /** What is written down for a while and may be secret. */
  readonly seal: Seal
}

export interface Cell extends AsyncDisposable {
  /** Shows clients the certificate as it is now; whoever is connected stays so. */
  renewed(): void
}

/** One cell: the tenants' door, a worker, a follower of its share of the hosts. Any of them may die with it. */
export async function startCell(config: Config, given: Given): Promise<Cell> {
  await using started = new AsyncDisposableStack()
  const engines = started.use(openEngines(config, given.identity))
  started.use(startWork(config, engines, given))
  const door = await buildDoor(config, engines, given)
  started.defer(() => door.close())
  const { address, port } = config.listen
  await door.listen({ host: address, port })
  given.log(`cell ${config.cell} answers at https://${address}:${port}`)
  const all = started.move()
  return {
    renewed: () => showCertificate(door, given.tls()),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function buildDoor(
  { base, console: screens, images }: Config,
  { db, tenants, reads, links, ring }: Engines,
  { clock, ids, log, tls, seal }: Given,
): Promise<FastifyInstance> {
  const world: RequestWorld = {
    as: (who, work) =>
      who.role === 'system administrator'
        ? db.transaction().execute(work)
        : inOrg(tenants, who.org, work),
    reads: (reach) => reads.of(reach),
    screens: (host) => links.at(host),
    ...{ ring, clock, seal, base: new URL(base), secret: () => ids.secret() },
    uploads: openUploads(db, images),
    console: screens ?? `console.${new URL(base).hostname}`,
  }
  const spare = await hashPassword(ids.secret(), ids.salt())
  const sessions = makeSessions(db, () => ids.secret(), spare)
  const requestId = () => ids.uuid()
  return buildServer(world, routes, sessions, { dialect: ours, tls: tls(), requestId, log })
}
