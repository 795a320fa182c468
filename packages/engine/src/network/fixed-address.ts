import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'

import { macOf } from '../domain/mac.ts'
import { hostSegment, isFixedIn, type Segment } from '../domain/segment.ts'
import type { Host } from '../host/host.ts'
import { fixedAddressesDirectory, type Paths } from '../host/paths.ts'
import { makeDirectory, PUBLIC_DIRECTORY, PUBLIC_FILE } from '../host/private-files.ts'
import type { VmRecord } from '../host/record.ts'
import { leasedOn, rereadEntries } from './dhcp-server.ts'
import { ensureNetworkOf } from './org-network.ts'

/** Held while an entry is written or removed. */
const LOCK = 'entries of the DHCP server'

/**
 * Reserves a DHCP address for a VM for its whole life, across all restarts. The DHCP server watches
 * a directory with one file per VM. Changing the reservation through libvirt would remove and
 * re-create the network's firewall rules each time.
 */
export async function fixAddress(host: Host, record: VmRecord): Promise<VmRecord> {
  const segment = await segmentOf(host, record)
  const leased = record.network === undefined ? NONE : await leasedOn(host, record.network)
  // Choosing and remembering are one synchronous step, so that no other VM chooses the same address.
  const address = firstFree(host, segment, record.uuid, leased)
  const fixed = host.records.remember({ ...record, address })
  await host.locks.run(LOCK, () => writeEntry(host.paths, fixed))
  return fixed
}

/** A VM that comes from another host keeps its address, unless it is taken here. */
export async function keepAddress(host: Host, record: VmRecord): Promise<VmRecord> {
  const { address, uuid } = record
  if (address === undefined) return record
  const segment = await segmentOf(host, record)
  const isTaken = host.records.all().some((each) => each.uuid !== uuid && each.address === address)
  // The same organisation may have a different network here.
  if (isTaken || !isFixedIn(segment, address)) return fixAddress(host, record)
  await host.locks.run(LOCK, () => writeEntry(host.paths, record))
  return record
}

/** The host's own network already exists. */
const segmentOf = async (host: Host, { network }: VmRecord): Promise<Segment> =>
  network === undefined ? hostSegment : ensureNetworkOf(host, network)

/**
 * On the host's own network the DHCP server forgets the entry at its next start. Until then no VM
 * has that card, and the range is large enough not to reuse the address. An organisation's is small.
 */
export async function freeAddress(host: Host, { uuid, network }: VmRecord): Promise<void> {
  const entry = join(fixedAddressesDirectory(host.paths, network), uuid)
  await host.locks.run(LOCK, () => rm(entry, { force: true }))
  if (network !== undefined) await rereadEntries(host, network)
}

/**
 * Restores missing entries and removes those of deleted VMs. VMs are created and deleted meanwhile:
 * a creation remembers its record before it writes the entry, a deletion marks its record before it
 * removes the entry.
 */
export async function settleAddresses(host: Host): Promise<void> {
  for (const network of new Set([undefined, ...host.records.all().map((each) => each.network)])) {
    await host.locks.run(LOCK, () => settleEntries(host, network))
  }
}

async function settleEntries({ paths, records }: Host, network?: string): Promise<void> {
  const directory = fixedAddressesDirectory(paths, network)
  // The DHCP server runs as another user and reads this directory.
  await makeDirectory(directory, PUBLIC_DIRECTORY)
  const left = new Set(await readdir(directory))
  for (const record of records.all()) {
    if (record.network !== network || record.phase === 'leaving') continue
    if (!left.delete(record.uuid) && record.address !== undefined) await writeEntry(paths, record)
  }
  for (const name of left) await rm(join(directory, name), { force: true })
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Starts at a position derived from the VM's uuid and skips leased addresses: a recently freed
 * address is not reused, because the DHCP server keeps it for its last client for a while.
 */
function firstFree(
  { records }: Host,
  { fixed, network }: Segment,
  uuid: string,
  leased: ReadonlySet<string>,
): string {
  const taken = new Set(records.all().map(({ address }) => address))
  const first = createHash('sha256').update(uuid).digest().readUInt32BE(8) % fixed.count
  let lent: string | undefined
  for (let step = 0; step < fixed.count; step++) {
    const address = fixed.at((first + step) % fixed.count)
    if (taken.has(address)) continue
    if (!leased.has(address)) return address
    lent ??= address
  }
  if (lent !== undefined) return lent
  throw new Fault('no-room', `all ${fixed.count} addresses of the network ${network} are taken`, {
    hint: 'delete VMs on this network',
  })
}

/** The DHCP server reads a file at once after a rename, and ignores the hidden file before it. */
async function writeEntry(paths: Paths, { uuid, address, network }: VmRecord): Promise<void> {
  const file = join(fixedAddressesDirectory(paths, network), uuid)
  await writeDurably(file, `${macOf(uuid)},${address}\n`, PUBLIC_FILE)
}
