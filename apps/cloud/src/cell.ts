import { inOrg } from '@skerry/postgres'
import type { Clock, Ids, Seal } from '@skerry/service'
import type { FastifyInstance } from 'fastify'

import type { Config } from './config.ts'
import { openEngines, type Engines } from './engines.ts'
import type { Identity } from './hosts/connect.ts'
import { byToken } from './http/admission.ts'
import { original, ours } from './http/dialect.ts'
import { buildServer, showCertificate, type ServerCertificate } from './http/server.ts'
import { makeCheck, type CheckCredentials } from './identity/credentials.ts'
import { hashPassword } from './identity/password.ts'
import { makeSessions } from './identity/sessions.ts'
import { openUploads } from './images/uploads.ts'
import type { ForWorkflows } from './machine/for-workflows.ts'
import { byGrant } from './machine/runs.ts'
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
  /** For the machines' door: the same passwords, and the same API. */
  readonly forWorkflows: ForWorkflows
}

/** One cell: the tenants' door, a worker, a follower of its share of the hosts. Any of them may die with it. */
export async function startCell(config: Config, given: Given): Promise<Cell> {
  await using started = new AsyncDisposableStack()
  const engines = started.use(openEngines(config, given.identity))
  started.use(startWork(config, engines, given))
  const { doors, runs, check } = await buildDoors(config, engines, given)
  for (const { door } of doors) started.defer(() => door.close())
  started.defer(() => runs.close())
  for (const { door, address, port } of doors) {
    await door.listen({ host: address, port })
    given.log(`cell ${config.cell} answers at https://${address}:${port}`)
  }
  const all = started.move()
  return {
    renewed: () => {
      for (const { door } of doors) showCertificate(door, given.tls())
    },
    forWorkflows: { check, api: (request, response) => runs.routing(request, response) },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

interface Doors {
  readonly doors: readonly (Config['listen'] & { readonly door: FastifyInstance })[]
  /** The same rows, by the grants of runs. */
  readonly runs: FastifyInstance
  readonly check: CheckCredentials
}

async function buildDoors(
  config: Config,
  { db, tenants, reads, links, ring }: Engines,
  { clock, ids, log, tls, seal }: Given,
): Promise<Doors> {
  const { base, console: screens, images } = config
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
  const check = makeCheck(db, await hashPassword(ids.secret(), ids.salt()))
  const sessions = makeSessions(db, () => ids.secret(), check)
  const options = { requestId: () => ids.uuid(), log }
  const doors = listeners(config).map(({ dialect, at, listen }) => {
    const door = buildServer({ ...world, base: new URL(at) }, routes, byToken(sessions, dialect), {
      ...{ ...options, dialect, tls: tls() },
    })
    return { ...listen, door }
  })
  const runs = buildServer(world, routes, byGrant(db), { ...options, dialect: ours })
  await runs.ready()
  return { doors, runs, check }
}

/** A dialect to each: `at` is what its documents point at. */
const listeners = ({ base, listen, original: second }: Config) => [
  { dialect: ours, at: base, listen },
  ...(second ? [{ dialect: original, at: second.base, listen: second.listen }] : []),
]
