import { Fault } from '@skerry/fault'

export const versions = ['1.5', '5.1', '5.5'] as const
export type Version = (typeof versions)[number]
/** Those that are told of; the others are taken from clients that know no better. */
export const toldVersions: readonly Version[] = ['1.5', '5.1']

/** 'application/*+xml;version=5.1' → '5.1'. A row that is younger than the version asked for is not there. */
export function versionOf(accept: string | undefined, since = '1.5'): Version {
  const asked = /version=([\d.]+)/.exec(accept ?? '')?.[1]
  const version = versions.find((one) => one === asked)
  if (!version) {
    throw new Fault(
      'not-acceptable',
      `the request has an invalid accept header: supported API versions are [${versions.join(', ')}]`,
      { hint: 'send Accept: application/*+xml;version=5.1' },
    )
  }
  if (Number(since) > Number(version)) {
    throw new Fault('not-acceptable', `this exists from version ${since} on`)
  }
  return version
}
