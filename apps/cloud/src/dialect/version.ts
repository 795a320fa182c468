import { Fault } from '@skerry/fault'

import { readAccept } from './accept.ts'

export const versions = ['1.5', '5.1', '5.5'] as const
export type Version = (typeof versions)[number]
/** The advertised versions; the others are accepted from clients that send them anyway. */
export const advertisedVersions: readonly Version[] = ['1.5', '5.1']

/** The version of a response that needs none: from the path or the header; default: the first. */
export const knownVersion = (inAddress: string | undefined, accept: string | undefined): Version =>
  versions.find((one) => one === (inAddress ?? readAccept(accept).version)) ?? '1.5'

/** Whether a version includes what another introduced: 5.5 includes 5.1. */
export const isIn = (version: Version, since = '1.5'): boolean =>
  versions.indexOf(version) >= versions.findIndex((one) => one === since)

/** 'application/*+xml;version=5.1' → '5.1'. Rejects a version that is older than the route. */
export function versionOf(accept: string | undefined, since = '1.5'): Version {
  const version = versions.find((one) => one === readAccept(accept).version)
  if (!version) {
    throw new Fault(
      'not-acceptable',
      `the request has an invalid accept header: supported API versions are [${versions.join(', ')}]`,
      { hint: 'send Accept: application/*+xml;version=5.1, or application/*+json;version=5.1' },
    )
  }
  if (!isIn(version, since)) {
    throw new Fault('not-acceptable', `this requires API version ${since} or later`)
  }
  return version
}
