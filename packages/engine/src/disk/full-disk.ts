import * as libvirt from '@skerry/libvirt'

import { lookUp } from '../domain/find-domain.ts'
import { every } from '../every.ts'
import { domainName } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import type { VmRecord } from '../host/record.ts'
import { freeBytes } from '../host/space.ts'

const LOOK_EVERY_MS = 2000
/** Less than what new work must leave free; otherwise a guest could wait forever. */
const ENOUGH_BYTES = 64 * 1024 * 1024

/** One timer for all guests: guests paused by a full disk resume when there is space again. */
export function watchSpace(host: Host, signal: AbortSignal): void {
  every(
    LOOK_EVERY_MS,
    signal,
    () => resumeWhereRoom(host),
    (error) => host.log('failed to resume guests paused by a full disk', error),
  )
}

async function resumeWhereRoom(host: Host): Promise<void> {
  const stopped = await stoppedByFullDisk(host)
  if (stopped.length === 0 || (await freeBytes(host.paths.data)) < ENOUGH_BYTES) return
  for (const { id, owner } of stopped) {
    await host.locks.run(id, async () => {
      const record = host.records.get(id, owner)
      if (!record || host.moves.departureOf(record)) return
      const dom = await lookUp(host, domainName(record))
      if (dom && (await hasFullDisk(host, dom))) await host.link.call(libvirt.domainResume, { dom })
    })
  }
}

async function stoppedByFullDisk(host: Host): Promise<VmRecord[]> {
  const flags = libvirt.ConnectListAllDomainsFlags.paused
  const { domains } = await host.link.call(libvirt.connectListAllDomains, { needResults: 1, flags })
  const paused = new Map(domains.map((dom) => [dom.name, dom]))
  const stopped: VmRecord[] = []
  for (const record of host.records.all()) {
    const dom = paused.get(domainName(record))
    if (dom && (await hasFullDisk(host, dom))) stopped.push(record)
  }
  return stopped
}

/** Whether lack of disk space is the reason why the guest is paused. */
export async function hasFullDisk({ link }: Host, dom: libvirt.Domain): Promise<boolean> {
  const { state, reason } = await link.call(libvirt.domainGetState, { dom, flags: 0 })
  const { DomainState, DomainPausedReason, DomainDiskErrorCode } = libvirt
  if (state !== DomainState.paused || reason !== DomainPausedReason.ioerror) return false
  const { errors } = await link.call(libvirt.domainGetDiskErrors, { dom, maxerrors: 16, flags: 0 })
  return errors.some(({ error }) => error === DomainDiskErrorCode.noSpace)
}
