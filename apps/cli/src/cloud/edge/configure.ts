import { linkOf } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'
import { attribute, element, type Element } from '@skerry/xml'

import { Failure } from '../../terminal/failure.ts'
import type { CloudSession } from '../../vms/cloud-session.ts'
import type { ChangeOptions } from '../../vms/vm-backend.ts'
import { follow, type StartedTask } from '../task.ts'
import { servicesOf, versionOf } from './seen-gateway.ts'

/** Others change the rules at the same time; more failed attempts than this are no coincidence. */
const ATTEMPTS_MAX = 10

/** A change of services: services in, changed services out. It is applied again if others were faster. */
export type ServiceChange = (services: Element) => Element

const emptyServices = (): Element => element('EdgeGatewayServiceConfiguration')

/** Only what changed, with the version that was read: the cloud keeps the other services. */
function changesOf(before: Element, after: Element, version: number): Element | undefined {
  const changed = after.children.filter((part) => !before.children.includes(part))
  if (changed.length === 0) return undefined
  const { name } = before
  return { ...element(name, { version }), children: changed }
}

function configureLink({ profile }: CloudSession, gateway: Element): string {
  const href = linkOf(gateway, 'edgeGateway:configureServices')
  if (href !== undefined) return href
  throw new Failure(
    'refused',
    `the rules of edge gateway ${attribute(gateway, 'name')} cannot be changed`,
    { hint: `${profile.user} needs the role organisation administrator` },
  )
}

/**
 * Changes the rules of an edge gateway in one request, which names the version that it is based on. If somebody else changed them in
 * the meantime, they are read and changed again. Undefined: nothing was to be changed.
 */
export async function configureServices(
  side: CloudSession,
  href: string,
  change: ServiceChange,
  doing: ChangeOptions,
): Promise<StartedTask | undefined> {
  const { cloud } = side
  let gateway = await cloud.get(href)
  for (let attempt = 1; ; attempt += 1) {
    const before = servicesOf(gateway) ?? emptyServices()
    const version = versionOf(gateway)
    const body = changesOf(before, change(before), version)
    if (!body) return undefined
    try {
      return await follow(
        side,
        await cloud.act('POST', configureLink(side, gateway), { body }),
        doing,
      )
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'conflict') throw error
      gateway = await cloud.get(href)
      // The same version: the rules themselves are refused, and would be again.
      if (versionOf(gateway) === version || attempt === ATTEMPTS_MAX) throw error
    }
  }
}
