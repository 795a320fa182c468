import {
  loadPageFiles,
  pageHeaders,
  pageResponse,
  pagesNotBuilt,
  type PageFiles,
  type PageResponse,
} from '@skerry/service'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { TicketSessions } from './access/ticket-sessions.ts'

export interface MachineUiSettings {
  /** The name of this machine. */
  readonly name: string
  readonly version: string
  /** $PATH: where vmd finds the programs that it runs. */
  readonly path: string
  /** The directory of the built web UI. */
  readonly directory: string
}

/** The web UI of this machine: the same files that a cell serves. */
export class MachineUi {
  readonly sessions: TicketSessions
  readonly #settings: MachineUiSettings
  /** Loaded on first use: many machines never show it. */
  #files: Promise<PageFiles | undefined> | undefined

  constructor(settings: MachineUiSettings, secret: () => string) {
    this.#settings = settings
    this.sessions = new TicketSessions(secret)
  }

  /** What the first paint needs to know. A page without a session may ask; it learns no more than that. */
  config(hasAccess: boolean): object {
    const { name, version } = this.#settings
    return { kind: 'machine', name, version, ...(!hasAccess && { isLocked: true }) }
  }

  get machine(): MachineUiSettings {
    return this.#settings
  }

  /** The response for a path below /ui/; undefined: there is no such file. */
  async respond(
    path: string,
    headers: FastifyRequest['headers'],
  ): Promise<PageResponse | undefined> {
    this.#files ??= loadPageFiles(this.#settings.directory)
    const files = await this.#files.catch(() => undefined)
    if (files) return pageResponse(files, path, headers)
    // It may be built a moment later.
    this.#files = undefined
    return pagesNotBuilt('vmd')
  }
}

/** Adds the files below /ui/ to a server. */
export function servePages(
  server: FastifyInstance,
  ui: MachineUi,
  edge: {
    readonly hasAccess: (request: FastifyRequest) => boolean
    readonly sendNotFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
  },
): void {
  const named = { config: { name: 'readPage' } }
  const file = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const { '*': path = '' } = request.params as { readonly '*'?: string }
    const response = await ui.respond(path, request.headers)
    if (!response) return edge.sendNotFound(request, reply)
    return reply.code(response.status).headers(response.headers).send(response.body)
  }
  server.get('/ui', named, file)
  server.get('/ui/*', named, file)
  server.get('/ui/config.json', named, (request, reply) =>
    reply
      .headers({ ...pageHeaders(), 'cache-control': 'no-store' })
      .send(ui.config(edge.hasAccess(request))),
  )
}
