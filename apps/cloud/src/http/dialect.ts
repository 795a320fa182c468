import { faultKinds, httpStatus, type FaultKind } from '@skerry/fault'

import type { TaskState } from '../store/database.ts'

/** Why a request is refused: a fault; or there is no such address; or it is a mistake of ours. */
export type Refusal = FaultKind | 'nowhere' | 'mistake'

/** What a client is told of it: the status of HTTP, and the word in the document. */
export interface Told {
  readonly status: number
  readonly code: string
}

/**
 * The names on the wire, and what clients take answers to mean. Nothing else in the house spells one. A dialect belongs to a
 * listener: nothing that a client sends before it has logged in says which one it speaks.
 */
export interface Dialect {
  readonly name: 'ours' | 'original'
  readonly tokenHeader: string
  readonly cookie: string
  readonly requestIdHeader: string
  readonly realm: string
  /** That of a document, by the name that its row gives it. */
  readonly namespace: (document: string) => string
  readonly media: (document: string) => string
  readonly urn: (kind: string, uuid: string) => string
  readonly refusals: Readonly<Record<Refusal, Told>>
  /** Words for which a client may wait, or ask. */
  readonly words: Readonly<{ task: Readonly<Record<TaskState, string>> }>
}

const refusalsOf = (tell: (kind: FaultKind) => Told): Readonly<Record<FaultKind, Told>> =>
  Object.fromEntries(faultKinds.map((kind) => [kind, tell(kind)])) as Record<FaultKind, Told>

const ourTold = (kind: FaultKind): Told => ({
  status: httpStatus[kind],
  code: kind.toUpperCase().replaceAll('-', '_'),
})

const mistake: Told = { status: 500, code: 'INTERNAL_SERVER_ERROR' }

export const ours: Dialect = {
  name: 'ours',
  tokenHeader: 'x-cloud-authorization',
  cookie: 'cloud-token',
  requestIdHeader: 'x-request-id',
  realm: 'skerry',
  namespace: () => 'urn:skerry:cloud:1.5',
  media: (document) => `application/vnd.skerry.cloud.${document}+xml`,
  urn: (kind, uuid) => `urn:skerry:${kind}:${uuid}`,
  refusals: { ...refusalsOf(ourTold), nowhere: ourTold('not-found'), mistake },
  words: {
    task: {
      ...{ queued: 'queued', running: 'running', success: 'success' },
      ...{ error: 'error', canceled: 'canceled' },
    },
  },
}

/** Documents of administration have media types of another row, and some of them other names in it. */
const administration: Readonly<Record<string, string>> = {
  ...{ cloud: 'vcloud', org: 'organization', hosts: 'vmwHostReferences' },
}

const originalMedia = (document: string): string => {
  const [, administered] = /^admin\.(.+)$/.exec(document) ?? []
  return administered === undefined
    ? `application/vnd.vmware.vcloud.${document}+xml`
    : `application/vnd.vmware.admin.${administration[administered] ?? administered}+xml`
}

const hidden: Told = { status: 403, code: 'ACCESS_TO_RESOURCE_IS_FORBIDDEN' }
const bad: Told = { status: 400, code: 'BAD_REQUEST' }

/**
 * What those who wrote clients for the API that ours restates have built on. An id that is unknown, or no more, is forbidden to
 * them; a wrong state is a bad request; a task that waits runs, for there are clients that take every other word for its end.
 */
export const original: Dialect = {
  name: 'original',
  tokenHeader: 'x-vcloud-authorization',
  cookie: 'vcloud-token',
  requestIdHeader: 'x-vmware-vcloud-request-id',
  realm: 'vCloud',
  namespace: (document) =>
    `http://www.vmware.com/vcloud/${document === 'versions' ? document : 'v1.5'}`,
  media: originalMedia,
  urn: (kind, uuid) => `urn:vcloud:${kind}:${uuid}`,
  refusals: {
    ...refusalsOf((kind) => (httpStatus[kind] === 409 ? bad : ourTold(kind))),
    ...{ invalid: bad, forbidden: hidden, 'not-found': hidden, gone: hidden },
    unauthenticated: { status: 401, code: 'UNAUTHORIZED' },
    nowhere: { status: 404, code: 'RESOURCE_NOT_FOUND' },
    mistake,
  },
  words: { task: { ...ours.words.task, queued: 'running' } },
}
