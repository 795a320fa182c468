import { Fault } from '@skerry/fault'

export const versions = ['1.5', '5.1', '5.5'] as const
export type Version = (typeof versions)[number]
/** Those that are told of; the others are taken from clients that know no better. */
export const toldVersions: readonly Version[] = ['1.5', '5.1']

const askedIn = (accept: string | undefined): string | undefined =>
  /version=([\d.]+)/.exec(accept ?? '')?.[1]

/** What an answer comes as that needs no version: as asked for, in the address or the header, and else as the first. */
export const knownVersion = (inAddress: string | undefined, accept: string | undefined): Version =>
  versions.find((one) => one === (inAddress ?? askedIn(accept))) ?? '1.5'

/** Whether a version has what came with another: 5.5 has what came with 5.1. */
export const isIn = (version: Version, since = '1.5'): boolean =>
  versions.indexOf(version) >= versions.findIndex((one) => one === since)

/** 'application/*+xml;version=5.1' → '5.1'. A row that is younger than the version asked for is not there. */
export function versionOf(accept: string | undefined, since = '1.5'): Version {
  const version = versions.find((one) => one === askedIn(accept))
  if (!version) {
    throw new Fault(
      'not-acceptable',
      `the request has an invalid accept header: supported API versions are [${versions.join(', ')}]`,
      { hint: 'send Accept: application/*+xml;version=5.1' },
    )
  }
  if (!isIn(version, since)) {
    throw new Fault('not-acceptable', `this exists from version ${since} on`)
  }
  return version
}
