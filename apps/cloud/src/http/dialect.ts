import { httpStatus, type FaultKind } from '@skerry/fault'

/** The names on the wire. Nothing else in the house spells one. A dialect belongs to a listener. */
export interface Dialect {
  readonly name: string
  readonly tokenHeader: string
  readonly cookie: string
  readonly namespace: string
  readonly realm: string
  readonly media: (element: string) => string
  readonly urn: (kind: string, uuid: string) => string
  readonly requestIdHeader: string
  readonly status: Readonly<Record<FaultKind, number>>
}

export const ours: Dialect = {
  name: 'skerry',
  tokenHeader: 'x-cloud-authorization',
  cookie: 'cloud-token',
  namespace: 'urn:skerry:cloud:1.5',
  realm: 'skerry',
  media: (element) => `application/vnd.skerry.cloud.${element}+xml`,
  urn: (kind, uuid) => `urn:skerry:${kind}:${uuid}`,
  requestIdHeader: 'x-request-id',
  status: httpStatus,
}
