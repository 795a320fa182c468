import * as libvirt from '@skerry/libvirt'

import { domainName } from './definition.ts'
import { lookUp } from './find-domain.ts'
import type { Host } from './host.ts'
import type { VmRecord } from './record.ts'
import { freeBytes } from './space.ts'

const LOOK_EVERY_MS = 2000
/** Less than what new work must leave free, or a guest would wait for what nobody gives. */
const ENOUGH_BYTES = 64 * 1024 * 1024

/** One timer for all guests: those that a full disk has stopped go on when there is room again. */
export function watchSpace(host: Host, signal: AbortSignal): void {
  let looking = false
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    resumeWhereRoom(host)
      .catch((error: unknown) => host.note('could not see to guests stopped by a full disk', error))
      .finally(() => (looking = false))
  }, LOOK_EVERY_MS)
  timer.unref()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
}

async function resumeWhereRoom(host: Host): Promise<void> {
  const stopped = await stoppedByFullDisk(host)
  if (stopped.length === 0 || (await freeBytes(host.paths.data)) < ENOUGH_BYTES) return
  for (const { id, owner } of stopped) {
    await host.turns.take(id, async () => {
      const record = host.records.get(id, owner)
      const dom = record && (await lookUp(host, domainName(record)))
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

/** Whether it is a lack of room that keeps the guest from going on, and nothing else. */
export async function hasFullDisk({ link }: Host, dom: libvirt.Domain): Promise<boolean> {
  const { state, reason } = await link.call(libvirt.domainGetState, { dom, flags: 0 })
  const { DomainState, DomainPausedReason, DomainDiskErrorCode } = libvirt
  if (state !== DomainState.paused || reason !== DomainPausedReason.ioerror) return false
  const { errors } = await link.call(libvirt.domainGetDiskErrors, { dom, maxerrors: 16, flags: 0 })
  return errors.some(({ error }) => error === DomainDiskErrorCode.noSpace)
}
