import { query } from '@skerry/cloud-client'

import type { CloudSession } from '../../vms/cloud-session.ts'
import { kinds } from '../named.ts'
import { gatewayIn } from './seen-gateway.ts'

/** More edge gateways than this would delay a completion. */
const GATEWAYS_MAX = 4

/** The ids of all rules, to complete them. */
export async function ruleIds({ cloud }: CloudSession): Promise<readonly string[]> {
  const { type } = kinds.edge
  const found = await Array.fromAsync(query(cloud, { type, limit: GATEWAYS_MAX }))
  const documents = await Promise.all(found.map(({ href = '' }) => cloud.get(href)))
  return documents.flatMap((document) => {
    const { nat, firewall } = gatewayIn(document)
    return [...nat, ...firewall.rules].map(({ id }) => id)
  })
}
