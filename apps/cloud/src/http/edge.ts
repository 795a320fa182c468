import type { Edge } from '@skerry/service'
import { renderDocument, type Element } from '@skerry/xml'

import { authorize, type Owned, type Who } from '../identity/authorize.ts'
import type { CloudRoute } from '../route.ts'
import { wasAccepted } from '../store/request-keys.ts'
import type { RequestWorld } from '../world.ts'
import type { Admission } from './admission.ts'
import type { Asker } from './asker.ts'
import type { Dialect } from './dialect.ts'
import { requestKeyOf } from './request-key.ts'
import { things } from './things.ts'
import { knownVersion, versionOf } from './version.ts'

const nobody = { user: '', role: 'console only' } as Who

/** In: version, who asks, things, right, in this order. Out: media type and version. */
export function makeEdge(
  world: RequestWorld,
  admission: Admission,
  dialect: Dialect,
): Edge<Asker, CloudRoute> {
  const whoIs: Admission = async (row, request) =>
    row.permission === 'anyone' ? { who: nobody, token: '' } : admission(row, request)

  return {
    async admit(row, request) {
      const { headers } = request
      const asked = request.params as Readonly<Record<string, string>>
      const version =
        row.permission === 'anyone'
          ? knownVersion(asked['version'], headers.accept)
          : versionOf(headers.accept, row.since)
      const { who, token } = await whoIs(row, request)
      const params: Record<string, unknown> = { ...asked }
      const key = requestKeyOf(request, row.takes !== undefined)
      for (const [name, find] of Object.entries(things)) {
        const id = asked[name]
        if (id === undefined) continue
        const thing = await world.as<Owned | undefined>(who, async (tx) => {
          const there = await find(tx, id, { who })
          if (there || !key || !(await wasAccepted(tx, who, key))) return there
          // A delete whose answer was lost is asked for again when what it deleted is gone.
          return find(tx, id, { who, gone: true })
        })
        authorize(who, row.permission, thing)
        params[name] = thing
      }
      if (row.permission !== 'anyone' && row.permission !== 'login') {
        authorize(who, row.permission, 'none')
      }
      const lastEventId = headers['last-event-id']?.toString()
      const asker: Asker = { who, token, version, dialect, lastEventId, request: key }
      return { asker, params }
    },
    send(reply, row, { dialect: { media, namespace }, version }, { status, headers = {}, body }) {
      const answer = reply.code(status).headers(headers)
      if (body === undefined) return answer.send()
      const document = row.answers[status]
      if (typeof document !== 'string') {
        throw new TypeError(`${row.name} does not say what comes with ${status}`)
      }
      if (document === 'events') return answer.send(body)
      if (Buffer.isBuffer(body)) return answer.type(document).send(body)
      if (typeof body === 'string') {
        return answer.type(`${media(document)};version=${version}`).send(body)
      }
      const root = body as Element
      // A row may answer with one of several documents: what the document says it is, it comes as.
      const said = root.attributes['type']?.split(';')[0] ?? media(document)
      const rendered = renderDocument(rooted(root, namespace(document)))
      return answer.type(`${said};version=${version}`).send(rendered)
    },
  }
}

export const rooted = (root: Element, namespace: string): Element => ({
  ...root,
  attributes: { xmlns: namespace, ...root.attributes },
})
