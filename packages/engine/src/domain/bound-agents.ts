import * as libvirt from '@skerry/libvirt'

import { ANSWER_SECONDS } from '../host/agent.ts'
import type { Host } from '../host/host.ts'
import { saysLibvirt } from '../host/to-fault.ts'

/**
 * Sets a timeout for libvirt's own wait for an agent. By default libvirt waits forever and loses a
 * worker to each guest whose agent stalls. libvirt keeps the setting until the domain stops.
 */
export async function boundAgent(host: Host, dom: libvirt.Domain): Promise<void> {
  const timeout = ANSWER_SECONDS
  await host.link
    .call(libvirt.domainAgentSetResponseTimeout, { dom, timeout, flags: 0 })
    .catch((error: unknown) => {
      // The domain has stopped, or it belongs to libvirt's in-memory driver, which has no agents.
      const { noDomain, noSupport, operationInvalid } = libvirt.ErrorCode
      if (saysLibvirt(error, noDomain, noSupport, operationInvalid)) return
      host.log(`failed to set the libvirt agent timeout of ${dom.name}`, error)
    })
}

/** The same for every domain that already runs. */
export async function boundAgents(host: Host): Promise<void> {
  const flags = libvirt.ConnectListAllDomainsFlags.active
  const { domains } = await host.link.call(libvirt.connectListAllDomains, { needResults: 1, flags })
  for (const dom of domains) await boundAgent(host, dom)
}
