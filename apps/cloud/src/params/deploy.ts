import { Fault } from '@skerry/fault'
import type { Body } from '@skerry/service'
import { attribute, childrenByLocalName, text } from '@skerry/xml'

import { readSeconds } from './lease.ts'
import { readRoot } from './named.ts'

/** To deploy is to start, unless the body says otherwise. No body says nothing. */
export const deployParams: Body<{
  readonly power: boolean
  /** In seconds; 0: for ever. */
  readonly deployment?: number
}> = {
  media: 'deployVAppParams',
  shape: 'DeployVAppParams',
  read(raw) {
    if (raw.trim() === '') return { power: true }
    const root = readRoot(raw, 'DeployVAppParams')
    const said = attribute(root, 'powerOn') ?? 'true'
    const lease = 'deploymentLeaseSeconds'
    const deployment = readSeconds(attribute(root, lease), lease)
    return {
      power: said !== 'false' && said !== '0',
      ...(deployment !== undefined && { deployment }),
    }
  },
}

/** What each word means here: a VM that takes no room on its host is one that is off. */
const actions = {
  powerOff: 'powerOff',
  force: 'powerOff',
  default: 'powerOff',
  suspend: 'suspend',
  shutdown: 'shutdown',
} as const

export const undeployParams: Body<(typeof actions)[keyof typeof actions]> = {
  media: 'undeployVAppParams',
  shape: 'UndeployVAppParams',
  read(raw) {
    if (raw.trim() === '') return 'powerOff'
    const [action] = childrenByLocalName(readRoot(raw, 'UndeployVAppParams'), 'UndeployPowerAction')
    const word = text(action)?.trim() ?? 'default'
    if (Object.hasOwn(actions, word)) return actions[word as keyof typeof actions]
    const all = Object.keys(actions).join(', ')
    throw new Fault('invalid', `UndeployPowerAction must be one of ${all}`)
  },
}
