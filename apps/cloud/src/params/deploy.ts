import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, element, text } from '@skerry/xml'

import { readSeconds } from './lease.ts'
import { readRoot } from './named.ts'
import type { RequestDocument } from './request-document.ts'

/** Default: power on. An empty body means the defaults. */
export const deployParams: RequestDocument<{
  readonly power: boolean
  /** In seconds; 0: no limit. */
  readonly deployment?: number
}> = {
  media: 'deployVAppParams',
  shape: 'DeployVAppParams',
  example: () => element('DeployVAppParams', { powerOn: true }),
  read(raw) {
    if (raw.trim() === '') return { power: true }
    const root = readRoot(raw, 'DeployVAppParams')
    const powerOn = attribute(root, 'powerOn') ?? 'true'
    const lease = 'deploymentLeaseSeconds'
    const deployment = readSeconds(attribute(root, lease), lease)
    return {
      power: powerOn !== 'false' && powerOn !== '0',
      ...(deployment !== undefined && { deployment }),
    }
  },
}

/** UndeployPowerAction → operation. A VM that uses no resources of its host is one that is off. */
const actions = {
  powerOff: 'powerOff',
  force: 'powerOff',
  default: 'powerOff',
  suspend: 'suspend',
  shutdown: 'shutdown',
} as const

export const undeployParams: RequestDocument<(typeof actions)[keyof typeof actions]> = {
  media: 'undeployVAppParams',
  shape: 'UndeployVAppParams',
  example: () => element('UndeployVAppParams', {}, element('UndeployPowerAction', {}, 'shutdown')),
  read(raw) {
    if (raw.trim() === '') return 'powerOff'
    const [action] = childrenByLocalName(readRoot(raw, 'UndeployVAppParams'), 'UndeployPowerAction')
    const word = text(action)?.trim() ?? 'default'
    if (Object.hasOwn(actions, word)) return actions[word as keyof typeof actions]
    const all = Object.keys(actions).join(', ')
    throw new Fault('invalid', `UndeployPowerAction must be one of ${all}`)
  },
}
