import { faultKinds, httpStatus, type FaultKind } from '@skerry/fault'

import type { TaskState } from '../database/tables.ts'

/** Why a request is refused: a fault, an unknown path (`noRoute`), or an internal error (`internalError`). */
export type Refusal = FaultKind | 'noRoute' | 'internalError'

/** What a client receives for it: the HTTP status, and the code in the document. */
export interface RefusalCode {
  readonly status: number
  readonly code: string
}

/**
 * The names on the wire, and what responses mean to clients. No other module spells them out. A dialect belongs to a listener:
 * nothing that a client sends before its login says which dialect it uses.
 */
export interface Dialect {
  readonly name: 'ours' | 'original'
  readonly tokenHeader: string
  /** The header with the code of a second factor. */
  readonly secondFactorHeader: string
  readonly cookie: string
  /** The cookie in which a page of the cloud's own keeps its session; undefined: this listener serves no pages. */
  readonly pageCookie: string | undefined
  /** The cookie of a browser that is at an identity server. */
  readonly attemptCookie: string
  readonly requestIdHeader: string
  readonly realm: string
  /** The XML namespace of a document, by the name that its route declares. */
  readonly namespace: (document: string) => string
  readonly media: (document: string) => string
  readonly urn: (kind: string, uuid: string) => string
  readonly refusals: Readonly<Record<Refusal, RefusalCode>>
  /** Words that a client may wait for, or filter by. */
  readonly words: Readonly<{ task: Readonly<Record<TaskState, string>> }>
}

const refusalsOf = (
  codeOf: (kind: FaultKind) => RefusalCode,
): Readonly<Record<FaultKind, RefusalCode>> =>
  Object.fromEntries(faultKinds.map((kind) => [kind, codeOf(kind)])) as Record<
    FaultKind,
    RefusalCode
  >

const ourCode = (kind: FaultKind): RefusalCode => ({
  status: httpStatus[kind],
  code: kind.toUpperCase().replaceAll('-', '_'),
})

const internalError: RefusalCode = { status: 500, code: 'INTERNAL_SERVER_ERROR' }

export const ours: Dialect = {
  name: 'ours',
  tokenHeader: 'x-cloud-authorization',
  secondFactorHeader: 'x-cloud-second-factor',
  cookie: 'cloud-token',
  // The prefix makes browsers refuse it from a subdomain and from plain HTTP.
  pageCookie: '__Host-cloud-token',
  attemptCookie: '__Host-cloud-login',
  requestIdHeader: 'x-request-id',
  realm: 'skerry',
  namespace: () => 'urn:skerry:cloud:1.5',
  media: (document) => `application/vnd.skerry.cloud.${document}+xml`,
  urn: (kind, uuid) => `urn:skerry:${kind}:${uuid}`,
  refusals: { ...refusalsOf(ourCode), noRoute: ourCode('not-found'), internalError },
  words: {
    task: {
      queued: 'queued',
      running: 'running',
      success: 'success',
      error: 'error',
      canceled: 'canceled',
    },
  },
}

/** Administrative documents have media types of another series, and some have other names there. */
const administration: Readonly<Record<string, string>> = {
  cloud: 'vcloud',
  org: 'organization',
  hosts: 'vmwHostReferences',
  externalNetwork: 'vmwexternalnet',
  externalNetworks: 'vmwExternalNetworkReferences',
}

const originalMedia = (document: string): string => {
  const [, administered] = /^admin\.(.+)$/.exec(document) ?? []
  return administered === undefined
    ? `application/vnd.vmware.vcloud.${document}+xml`
    : `application/vnd.vmware.admin.${administration[administered] ?? administered}+xml`
}

const hidden: RefusalCode = { status: 403, code: 'ACCESS_TO_RESOURCE_IS_FORBIDDEN' }
const bad: RefusalCode = { status: 400, code: 'BAD_REQUEST' }

/**
 * What clients of the original API rely on. An unknown or deleted id is forbidden; a wrong state is a bad request; a queued task
 * is shown as running, because some clients take every other status for its end.
 */
export const original: Dialect = {
  name: 'original',
  tokenHeader: 'x-vcloud-authorization',
  // The original has none: it is the same as ours.
  secondFactorHeader: ours.secondFactorHeader,
  cookie: 'vcloud-token',
  pageCookie: undefined,
  attemptCookie: '__Host-vcloud-login',
  requestIdHeader: 'x-vmware-vcloud-request-id',
  realm: 'vCloud',
  namespace: (document) =>
    `http://www.vmware.com/vcloud/${document === 'versions' ? document : 'v1.5'}`,
  media: originalMedia,
  urn: (kind, uuid) => `urn:vcloud:${kind}:${uuid}`,
  refusals: {
    ...refusalsOf((kind) => (httpStatus[kind] === 409 ? bad : ourCode(kind))),
    invalid: bad,
    forbidden: hidden,
    'not-found': hidden,
    gone: hidden,
    unauthenticated: { status: 401, code: 'UNAUTHORIZED' },
    noRoute: { status: 404, code: 'RESOURCE_NOT_FOUND' },
    internalError,
  },
  words: { task: { ...ours.words.task, queued: 'running' } },
}
