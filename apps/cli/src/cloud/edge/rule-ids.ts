import { query } from '@skerry/cloud-client'

import type { CloudSession } from '../../vms/cloud-session.ts'
import { kinds } from '../named.ts'
import { gatewayIn, type SeenGateway } from './seen-gateway.ts'

/** More edge gateways than this would delay a completion. */
const GATEWAYS_MAX = 4

async function firstGateways({ cloud }: CloudSession): Promise<readonly SeenGateway[]> {
  const { type } = kinds.edge
  const found = await Array.fromAsync(query(cloud, { type, limit: GATEWAYS_MAX }))
  return Promise.all(found.map(async ({ href = '' }) => gatewayIn(await cloud.get(href))))
}

/** The ids of all rules, to complete them. */
export const ruleIds = async (side: CloudSession): Promise<readonly string[]> =>
  (await firstGateways(side)).flatMap(({ nat, firewall }) =>
    [...nat, ...firewall.rules].map(({ id }) => id),
  )

/** The networks that static routes lead to, which are their ids. */
export const routeTargets = async (side: CloudSession): Promise<readonly string[]> =>
  (await firstGateways(side)).flatMap(({ routes }) => routes.map(({ network }) => network))
