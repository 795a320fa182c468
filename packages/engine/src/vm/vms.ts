import * as libvirt from '@skerry/libvirt'
import type { Vm, VmSummary } from '@skerry/vm'

import { readLayers, virtualBytes } from '../disk/disk.ts'
import { hasFullDisk } from '../disk/full-disk.ts'
import { findVm, readFacts } from '../domain/find-domain.ts'
import { macOf } from '../domain/mac.ts'
import { readBoot } from '../domain/qemu-process.ts'
import { powerOfState, readPowerOf } from '../domain/read-power.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import type { VmRecord } from '../host/record.ts'

/**
 * Every VM of this owner with its power state, sorted by id. Two libvirt calls for any number of
 * VMs: the state of all domains, and the domains with a saved image.
 */
export async function listVms(host: Host, owner: Owner = 'local'): Promise<VmSummary[]> {
  const powers = await readPowers(host)
  return listKnown(host, owner).map((vm) => ({
    ...vm,
    ...(powers.get(domainName({ owner, id: vm.id })) ?? { power: 'off' }),
  }))
}

/** The same without the power state, hence without a libvirt call. */
export function listKnown(host: Host, owner: Owner = 'local'): Omit<VmSummary, 'power'>[] {
  return host.records
    .all()
    .filter((record) => record.owner === owner && record.phase === 'there')
    .map(({ id, name, tag }) => ({ id, name, tag }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** One VM with all its properties. */
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

/** Fixed since the VM's creation: DHCP assigns it no other address. */
export const cardOf = ({ uuid, network, address }: VmRecord): Pick<Vm, 'card'> =>
  network === undefined || address === undefined
    ? {}
    : { card: { network, mac: macOf(uuid), address } }

/** The power state of every domain, by name. */
async function readPowers({
  link,
}: Host): Promise<Map<string, Pick<VmSummary, 'power' | 'ending'>>> {
  const stats = { doms: [], stats: libvirt.DomainStatsTypes.state, flags: 0 }
  const saved = { needResults: 1, flags: libvirt.ConnectListAllDomainsFlags.managedsave }
  const [{ retStats }, { domains }] = await Promise.all([
    link.call(libvirt.connectGetAllDomainStats, stats),
    link.call(libvirt.connectListAllDomains, saved),
  ])
  const powers = new Map<string, Pick<VmSummary, 'power' | 'ending'>>()
  for (const { name } of domains) powers.set(name, { power: 'suspended' })
  for (const { dom, params } of retStats) {
    const number = (field: string): number => Number(libvirt.readCount(params, field) ?? 0n)
    const state = number('state.state')
    const running = powerOfState(state, number('state.reason'))
    if (!running) continue
    const ending = state === libvirt.DomainState.shutdown
    powers.set(dom.name, { power: running.power, ...(ending && { ending }) })
  }
  return powers
}
