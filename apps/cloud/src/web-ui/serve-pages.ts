import { Fault } from '@skerry/fault'
import {
  markAuthenticated,
  pageHeaders,
  pageResponse,
  pagesNotBuilt,
  type PageFiles,
} from '@skerry/service'
import { toJson } from '@skerry/xml'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { hasPasskeys } from '../auth/passkeys.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { Dialect } from '../dialect/dialect.ts'
import { shapeOf } from '../dialect/shapes.ts'
import { session } from '../documents/session.ts'
import { Hrefs } from '../http/links.ts'
import { pageTokenIn } from '../http/page-request.ts'

export interface WebUi {
  /** undefined: it was not built. */
  readonly files: PageFiles | undefined
  readonly version: string
  readonly sessions: Pick<Sessions, 'find'>
  readonly dialect: Dialect
  /** The public address of the cloud. */
  readonly base: URL
  /** Public address of the consoles, as host or host:port. */
  readonly console: string
  /** Headers beside those of every page. */
  readonly moreHeaders?: () => Readonly<Record<string, string>>
  /** Whether this cell passes requests on to a workflow server. Default: no. */
  readonly hasWorkflows?: boolean
}

/** Adds the web UI to a listener: files below /ui/, and what its first paint needs to know. */
export const servePages =
  (ui: WebUi) =>
  (server: FastifyInstance): void => {
    const named = { config: { name: 'readPage' } }
    const always = (): Readonly<Record<string, string>> => ({
      ...pageHeaders([`wss://${ui.console}`]),
      ...ui.moreHeaders?.(),
    })
    const file = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
      const { '*': path = '' } = request.params as { readonly '*'?: string }
      return sendFile(ui.files, path, reply, always())
    }
    server.get('/', named, (_request, reply) => reply.redirect('/ui/'))
    server.get('/ui', named, file)
    server.get('/ui/*', named, file)
    server.get('/ui/config.json', named, async (request, reply) => {
      const config = await readPageConfig(ui, request)
      return reply.headers({ ...always(), 'cache-control': 'no-store' }).send(config)
    })
  }

function sendFile(
  files: PageFiles | undefined,
  path: string,
  reply: FastifyReply,
  always: Readonly<Record<string, string>>,
): FastifyReply {
  const response = files
    ? pageResponse(files, path, reply.request.headers, always)
    : pagesNotBuilt('the cell', always)
  if (!response) throw new Fault('not-found', 'the web UI has no such file')
  return reply.code(response.status).headers(response.headers).send(response.body)
}

/** The first paint needs this request only. It is no error if no one is logged in. */
async function readPageConfig(
  { sessions, dialect, base, version, console, hasWorkflows = false }: WebUi,
  request: FastifyRequest,
): Promise<object> {
  const token =
    dialect.pageCookie === undefined ? undefined : pageTokenIn(request, dialect.pageCookie, base)
  const principal = token === undefined ? undefined : await sessions.find(token)
  if (principal) markAuthenticated(request.raw.socket)
  const document =
    principal &&
    session({ principal, dialect, version: '5.1', token: token ?? '' }, new Hrefs(base))
  return {
    kind: 'cloud',
    name: base.hostname,
    version,
    console,
    ...(hasWorkflows && { workflows: true }),
    ...(hasPasskeys(base) && { passkeys: true }),
    ...(document && { session: toJson(document, shapeOf(document.name)) }),
  }
}
