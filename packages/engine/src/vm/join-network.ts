import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import { nicChange, whyNotNics, type Nic } from '@skerry/vm'
import { readXml, renderElement } from '@skerry/xml'

import { redefine } from '../disk/redefine.ts'
import { hasCards, otherLinks } from '../domain/card-xml.ts'
import { DUMP_BYTES_MAX, type DomainFacts } from '../domain/domain-xml.ts'
import type { FoundVm } from '../domain/find-domain.ts'
import { macOf } from '../domain/mac.ts'
import { readPowerOf } from '../domain/read-power.ts'
import { networkOf } from '../domain/segment.ts'
import type { Host } from '../host/host.ts'
import type { VmRecord } from '../host/record.ts'
import { fixAddress, freeAddress } from '../network/fixed-address.ts'
import { dropUnusedNetworks } from '../network/org-network.ts'
import { findSettled } from '../recover/pending-change.ts'

/** Where a cloud VM is connected. */
interface Connections {
  readonly org: string
  /** Its cards on networks across hosts; undefined: one card on the network of its organisation on this host. */
  readonly nics?: readonly Nic[] | undefined
}

/**
 * Moves a cloud VM to its networks if it is not there: an older version created it on the host's own network, it changed its
 * organisation, or its cards are on networks across hosts now. Only while the VM is off; a running or suspended VM stays where it
 * is until then.
 */
export function joinNetwork(host: Host, id: string, wanted: Connections): Promise<void> {
  return host.locks.run(id, async () => {
    const known = host.records.get(id, 'cloud')
    if (known && isRecorded(known, wanted)) return
    const found = await findSettled(host, id, 'cloud')
    if ((await readPowerOf(host, found.dom)).power === 'off') await move(host, found, wanted)
  })
}

/** Gives a cloud VM these cards. Other cards only while it is off; links at any time. */
export function changeNics(host: Host, id: string, wanted: Connections): Promise<void> {
  const { nics } = wanted
  const why = nics && whyNotNics(nics)
  if (why !== undefined) return Promise.reject(new Fault('invalid', why))
  return host.locks.run(id, async () => {
    const found = await findSettled(host, id, 'cloud')
    const change = nicChange(found.record.nics, nics)
    const { power } = await readPowerOf(host, found.dom)
    // The record is written first: an earlier attempt may have failed between it and the links.
    if (change === 'none') return power === 'off' ? undefined : restoreLinks(host, found)
    if (change === 'cards' && power !== 'off') {
      throw new Fault(
        'wrong-state',
        `VM ${id} is ${power}; its cards can be changed only while it is off`,
        {
          detail: power,
          hint: `shut VM ${id} down first`,
        },
      )
    }
    if (power === 'off') return move(host, found, wanted)
    const record = await host.records.write({ ...found.record, ...(nics && { nics }) })
    await restoreLinks(host, { ...found, record })
  })
}

const isRecorded = ({ network, nics }: VmRecord, wanted: Connections): boolean =>
  wanted.nics
    ? nicChange(nics, wanted.nics) === 'none'
    : nics === undefined && network === networkOf(wanted.org)

/** The record comes first: a crash between the two is repaired at the next start. */
async function move(host: Host, { record, dom }: FoundVm, wanted: Connections): Promise<void> {
  if (wanted.nics) host.overlay.require()
  await freeAddress(host, record)
  const { network: _, address: __, nics: ___, ...rest } = record
  const joined = wanted.nics
    ? { ...rest, nics: wanted.nics }
    : await fixAddress(host, { ...rest, network: networkOf(wanted.org) })
  await putOnItsNetwork(host, { record: await host.records.write(joined), dom })
  await dropUnusedNetworks(host)
}

/** Whether the definition has the cards of the record. */
export function isOnItsNetwork(
  { network, plugged }: Pick<DomainFacts, 'network' | 'plugged'>,
  record: VmRecord,
): boolean {
  if (record.nics) return hasCards(plugged, record.nics)
  const isLocal = plugged === undefined
  return isLocal && (record.network === undefined || network === record.network)
}

export async function putOnItsNetwork(host: Host, { record, dom }: FoundVm): Promise<void> {
  const mac = macOf(record.uuid)
  await redefine(host, { record, dom }, record.nics ? { bridge: undefined } : { mac })
}

/** Plugs and unplugs the cards of a running VM as its record says; also those of its next start. */
export async function restoreLinks(host: Host, { record, dom }: FoundVm): Promise<void> {
  if (!record.nics) return
  const { live, config } = libvirt.DomainDeviceModifyFlags
  for (const [dump, change] of [
    [0, live],
    [libvirt.DomainXMLFlags.inactive, config],
  ] as const) {
    if (change === live && !(await isActive(host, dom))) continue
    const { xml } = await host.link.call(libvirt.domainGetXmlDesc, { dom, flags: dump })
    for (const card of otherLinks(readXml(xml, { bytesMax: DUMP_BYTES_MAX }), record.nics)) {
      const changed = { dom, xml: renderElement(card), flags: change }
      await host.link.call(libvirt.domainUpdateDeviceFlags, changed)
    }
  }
}

async function isActive(host: Host, dom: libvirt.Domain): Promise<boolean> {
  const { power } = await readPowerOf(host, dom)
  return power === 'on' || power === 'paused'
}
