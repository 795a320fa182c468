import { Fault } from '@skerry/fault'
import { unreadable } from '@skerry/service'
import { withReplacements, element, renderDocument, type Element } from '@skerry/xml'
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Dialect, Refusal } from '../dialect/dialect.ts'
import { knownVersion } from '../dialect/version.ts'
import { rooted } from './edge.ts'
import { sendDocument } from './format.ts'
import { restrictions } from './page-request.ts'

const RETRY_SECONDS = 2

/** Sends a Fault with its own message, any other error as an internal error without details. `as`: overrides the kind of the fault. */
export function sendFault(dialect: Dialect, log: (message: string, cause: unknown) => void) {
  return (
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
    as?: Refusal,
  ): FastifyReply => {
    // The error may come before any hook has run.
    reply.headers(restrictions)
    const fault = error instanceof Fault ? error : unreadable(error)
    if (!fault) log(`${request.method} ${request.routeOptions.url ?? 'unknown path'}`, error)
    const { status, code } = dialect.refusals[as ?? fault?.kind ?? 'internalError']
    if (status === 401 && !isBrowser(request, dialect)) {
      reply.header('www-authenticate', `Basic realm="${dialect.realm}"`)
    }
    if (status === 503) reply.header('retry-after', RETRY_SECONDS)
    // The fault's detail is the delay in seconds.
    if (status === 429) reply.header('retry-after', fault?.detail ?? RETRY_SECONDS)
    const message = fault
      ? [fault.message, fault.hint ?? hintFor(fault, dialect)].filter(Boolean).join('; ')
      : `request ${request.id} failed: internal error`
    const version = knownVersion(undefined, request.headers.accept)
    const document = errorDocument(dialect, { status, code, message })
    return sendDocument(reply.code(status), document, { media: dialect.media('error'), version })
  }
}

/** Only the dialect knows the name of the header. */
const hintFor = ({ kind }: Fault, { secondFactorHeader }: Dialect): string | undefined =>
  kind === 'second-factor'
    ? `send it in the header ${secondFactorHeader}; a script logs in with an API token as the password`
    : undefined

/** A browser would show its own window for the password over the page. */
const isBrowser = ({ headers }: FastifyRequest, { pageCookie }: Dialect): boolean =>
  pageCookie !== undefined && headers['sec-fetch-mode'] !== undefined

const errorDocument = (
  { namespace }: Dialect,
  { status, code, message }: Readonly<{ status: number; code: string; message: string }>,
): Element => {
  // A message may quote the request, and a URL can contain characters that XML cannot.
  const body = element('Error', {
    majorErrorCode: status,
    minorErrorCode: code,
    message: withReplacements(message),
  })
  return rooted(body, namespace('error'))
}

/** The response to a request that is not valid HTTP. */
export const unreadDocument = (dialect: Dialect) => (status: number, message: string) => ({
  type: `${dialect.media('error')};version=${knownVersion(undefined, undefined)}`,
  body: renderDocument(
    errorDocument(dialect, { status, message, code: dialect.refusals.invalid.code }),
  ),
})
