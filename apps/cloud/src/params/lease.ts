import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import type { LeaseRule, WantedLease } from '../tenants/leases.ts'
import { readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

const SECONDS_MAX = 2_147_483_647

export function readSeconds(written: string | undefined, name: string): number | undefined {
  if (written === undefined) return undefined
  const word = written.trim()
  if (/^\d{1,10}$/.test(word) && Number(word) <= SECONDS_MAX) return Number(word)
  throw new Fault('invalid', `${name} must be a number of seconds; 0 means no limit`)
}

/** LeaseSettingsSection: values that it does not contain stay. */
export const leaseParams: RequestDocument<WantedLease> = {
  media: 'leaseSettingsSection',
  shape: 'LeaseSettingsSection',
  example: () =>
    element('LeaseSettingsSection', {}, element('DeploymentLeaseInSeconds', {}, '86400')),
  read(raw) {
    const root = readRoot(raw, 'LeaseSettingsSection')
    const secondsIn = (name: string) => readSeconds(text(childrenByLocalName(root, name)[0]), name)
    const deployment = secondsIn('DeploymentLeaseInSeconds')
    const storage = secondsIn('StorageLeaseInSeconds')
    return {
      ...(deployment !== undefined && { deployment }),
      ...(storage !== undefined && { storage }),
    }
  },
}

const names = ['deploymentDefault', 'deploymentMax', 'storageDefault', 'storageMax'] as const

/** The Leases element of an AdminOrg. */
export function leasesIn(root: Element): Partial<LeaseRule> | undefined {
  const [found] = childrenByLocalName(root, 'Leases')
  if (!found) return undefined
  return Object.fromEntries(
    names.flatMap((name) => {
      const seconds = readSeconds(attribute(found, name), `${name} of Leases`)
      return seconds === undefined ? [] : [[name, seconds]]
    }),
  )
}
