import { Fault } from '@skerry/fault'
import type { Edge } from '@skerry/service'
import type { FastifyRequest } from 'fastify'

import { authorize, type Owned, type Who } from '../identity/rights.ts'
import { offersOf, type WorkflowRoute } from '../route.ts'
import type { RequestWorld } from '../world.ts'
import type { Asker } from './asker.ts'
import { send } from './send.ts'
import { things, type Things } from './things.ts'
import { wants } from './wants.ts'
import type { WhoIs } from './who.ts'

export interface WorkflowEdge extends Edge<Asker, WorkflowRoute> {
  /** Before anything of a body is read. */
  identify(request: FastifyRequest): Promise<void>
}

const nobody = { user: '', role: 'console only' } as Who
const KEY_MAX = 255

/** In: who, format, things, right, in this order. Out: the format. */
export function makeEdge(world: RequestWorld, whoIs: WhoIs): WorkflowEdge {
  const identified = new WeakMap<FastifyRequest, Who>()

  async function findThings(row: WorkflowRoute, who: Who, asked: Readonly<Record<string, string>>) {
    const found: Partial<Record<keyof Things, Owned>> = {}
    await world.as(who, async (tx) => {
      for (const name of Object.keys(things) as (keyof Things)[]) {
        const id = asked[name]
        if (id === undefined) continue
        const thing = await things[name](tx, id, { who, found: found as Partial<Things> })
        authorize(who, row.permission, thing)
        if (thing) found[name] = thing
      }
    })
    return found
  }

  return {
    async identify(request) {
      refuseForeignPage(request, world.base)
      const who = await whoIs.verify(request.headers.authorization, request.ip)
      if (!who) {
        throw new Fault('unauthenticated', 'send Basic credentials of user@organisation', {
          hint: 'those of the cloud are meant',
        })
      }
      identified.set(request, who)
    },
    async admit(row, request) {
      const { headers } = request
      const asked = request.params as Readonly<Record<string, string>>
      const who = identified.get(request) ?? nobody
      const format = wants(headers.accept, offersOf(row))
      const named = Object.keys(things).some((name) => asked[name] !== undefined)
      const found = named ? await findThings(row, who, asked) : {}
      authorize(who, row.permission, 'none')
      const asker: Asker = {
        ...{ who, format, requestKey: keyOf(headers['idempotency-key']) },
        ...{ ifNoneMatch: headers['if-none-match'] },
        lastEventId: headers['last-event-id']?.toString(),
      }
      return { asker, params: { ...asked, ...found } }
    },
    send: (reply, _row, { format }, answer) => send(reply, format, answer),
  }
}

/** A browser sends what it remembers to whoever is asked, also from somebody else's page: that may change nothing. */
function refuseForeignPage({ method, headers }: FastifyRequest, base: URL): void {
  const { origin, host } = headers
  if (method === 'GET' || method === 'HEAD' || origin === undefined) return
  if (origin === base.origin || (host !== undefined && URL.parse(origin)?.host === host)) return
  throw new Fault('forbidden', 'pages of another origin may change nothing here')
}

function keyOf(given: string | readonly string[] | undefined): string | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && given.length <= KEY_MAX && /^\P{Cc}+$/u.test(given)) return given
  throw new Fault('invalid', `Idempotency-Key must be one word of at most ${KEY_MAX} characters`)
}
