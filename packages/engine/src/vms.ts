import * as libvirt from '@skerry/libvirt'
import type { PowerState, Vm, VmSummary } from '@skerry/vm'

import { domainName } from './definition.ts'
import { readLayers, virtualBytes } from './disk.ts'
import { findVm, readFacts } from './find-domain.ts'
import { hasFullDisk } from './full-disk.ts'
import type { Host } from './host.ts'
import { macOf } from './mac.ts'
import { readBoot } from './qemu-process.ts'
import { powerOfState, readPowerOf } from './read-power.ts'
import type { Owner, VmRecord } from './record.ts'

/**
 * Every VM of this owner with its power, in the order of their ids. Two questions to libvirt, however many
 * there are: which domains run and how, and which have a saved image.
 */
export async function listVms(host: Host, owner: Owner = 'local'): Promise<VmSummary[]> {
  const powers = await readPowers(host)
  return listKnown(host, owner).map((vm) => ({
    ...vm,
    power: powers.get(domainName({ owner, id: vm.id })) ?? 'off',
  }))
}

/** The same without their power, for which libvirt need not be asked. */
export function listKnown(host: Host, owner: Owner = 'local'): Omit<VmSummary, 'power'>[] {
  return host.records
    .all()
    .filter((record) => record.owner === owner && record.phase === 'there')
    .map(({ id, name, tag }) => ({ id, name, tag }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** One VM, with all that is known of it. */
export async function readVm(host: Host, id: string, owner?: Owner): Promise<Vm> {
  const { record, dom } = await findVm(host, id, owner)
  const [{ power, pausedBy }, facts, boot] = await Promise.all([
    readPowerOf(host, dom),
    readFacts(host, dom),
    readBoot(host, dom.name),
  ])
  const full = pausedBy !== undefined && (await hasFullDisk(host, dom))
  const running = power === 'on' || power === 'paused'
  return {
    id: record.id,
    name: record.name,
    tag: record.tag,
    power,
    ...(pausedBy && { pausedBy: full ? 'full disk' : pausedBy }),
    incarnation: record.incarnation,
    boot: running ? boot : null,
    cpus: facts.cpus,
    memoryMiB: facts.memoryMiB,
    diskMiB: (await virtualBytes(await readLayers(facts.disk))) / 1024 ** 2,
    nested: facts.nested,
    autostart: record.autostart,
    sharing: record.sharing,
    ...(facts.bridge !== undefined && { bridge: facts.bridge }),
    ...(facts.network === record.network && cardOf(record)),
  }
}

/** Known from the day it was made: DHCP gives it no other. */
export const cardOf = ({ uuid, network, address }: VmRecord): Pick<Vm, 'card'> =>
  network === undefined || address === undefined
    ? {}
    : { card: { network, mac: macOf(uuid), address } }

/** The power of every domain there is, by its name. */
async function readPowers({ link }: Host): Promise<Map<string, PowerState>> {
  const stats = { doms: [], stats: libvirt.DomainStatsTypes.state, flags: 0 }
  const saved = { needResults: 1, flags: libvirt.ConnectListAllDomainsFlags.managedsave }
  const [{ retStats }, { domains }] = await Promise.all([
    link.call(libvirt.connectGetAllDomainStats, stats),
    link.call(libvirt.connectListAllDomains, saved),
  ])
  const powers = new Map<string, PowerState>()
  for (const { name } of domains) powers.set(name, 'suspended')
  for (const { dom, params } of retStats) {
    const number = (field: string): number => Number(libvirt.readCount(params, field) ?? 0n)
    const running = powerOfState(number('state.state'), number('state.reason'))
    if (running) powers.set(dom.name, running.power)
  }
  return powers
}
