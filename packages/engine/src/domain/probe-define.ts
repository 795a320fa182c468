import * as libvirt from '@skerry/libvirt'
import { element, renderElement } from '@skerry/xml'

import type { Host } from '../host/host.ts'

/** How long libvirt may take to define the probe. */
const DEFINE_SECONDS = 5

/** Always the same domain: a probe left behind by an earlier run is replaced, and then removed. */
const PROBE = { name: 'skerry-probe', uuid: '5ce11e00-0000-4000-8000-000000000001' } as const

/** Running probes: a libvirt that hangs is not probed again until it has answered. */
const underWay = new WeakMap<ProbedHost, Promise<string | undefined>>()

export type ProbedHost = Pick<Host, 'link' | 'hypervisor'>

/**
 * Checks that libvirt can define a VM, not only accept connections: returns the reason if it cannot, undefined if it can.
 * Defines a domain that never runs, and removes it.
 */
export async function probeDefine(host: ProbedHost): Promise<string | undefined> {
  const known = underWay.get(host)
  const defining = known ?? defineAndRemove(host).finally(() => underWay.delete(host))
  underWay.set(host, defining)
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve(TOO_SLOW), DEFINE_SECONDS * 1000)
  try {
    return await Promise.race([defining, late])
  } finally {
    clearTimeout(timer)
  }
}

const TOO_SLOW = `libvirt accepts connections but did not define a VM within ${DEFINE_SECONDS} s; check its log, then restart it: sudo systemctl restart libvirtd`

async function defineAndRemove({ link, hypervisor }: ProbedHost): Promise<string | undefined> {
  const xml = renderElement(
    element(
      'domain',
      { type: hypervisor.type },
      element('name', {}, PROBE.name),
      element('uuid', {}, PROBE.uuid),
      element('memory', { unit: 'MiB' }, 1),
      element('os', {}, element('type', {}, 'hvm')),
    ),
  )
  try {
    const { dom } = await link.call(libvirt.domainDefineXmlFlags, { xml, flags: 0 })
    await link.call(libvirt.domainUndefine, { dom })
    return undefined
  } catch (error) {
    return `libvirt cannot define a VM: ${(error as Error).message}`
  }
}
