import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'

import { leasedOn, rereadEntries } from './dhcp-server.ts'
import type { Host } from './host.ts'
import { macOf } from './mac.ts'
import { ensureNetworkOf } from './org-network.ts'
import { fixedAddressesDirectory, type Paths } from './paths.ts'
import { syncDirectory, type VmRecord } from './record.ts'
import { hostSegment, isFixedIn, type Segment } from './segment.ts'

/**
 * Gives a VM the address that DHCP will answer it with for as long as it is there, whatever
 * restarts. The DHCP server watches a directory with one file for each VM; to tell it through
 * libvirt would take the network's firewall rules away and put them back each time.
 */
export async function fixAddress(host: Host, record: VmRecord): Promise<VmRecord> {
  const segment = await segmentOf(host, record)
  const leased = record.network === undefined ? NONE : await leasedOn(host, record.network)
  // Chosen and remembered in one go, so that no other VM chooses the same.
  const address = firstFree(host, segment, record.uuid, leased)
  const fixed = host.records.remember({ ...record, address })
  await writeEntry(host.paths, fixed)
  return fixed
}

/** A VM that comes from another host keeps the address it has, where nobody here has it already. */
export async function keepAddress(host: Host, record: VmRecord): Promise<VmRecord> {
  const { address, uuid } = record
  if (address === undefined) return record
  const segment = await segmentOf(host, record)
  const isTaken = host.records.all().some((each) => each.uuid !== uuid && each.address === address)
  // The same organisation may have another network here.
  if (isTaken || !isFixedIn(segment, address)) return fixAddress(host, record)
  await writeEntry(host.paths, record)
  return record
}

/** The host's own is there already. */
const segmentOf = async (host: Host, { network }: VmRecord): Promise<Segment> =>
  network === undefined ? hostSegment : ensureNetworkOf(host, network)

/**
 * The DHCP server of the host's own network forgets it at its next start; until then nobody has that
 * network card, and among so many the address is not for the next VM. That of an organisation has few.
 */
export async function freeAddress(host: Host, { uuid, network }: VmRecord): Promise<void> {
  await rm(join(fixedAddressesDirectory(host.paths, network), uuid), { force: true })
  if (network !== undefined) await rereadEntries(host, network)
}

/** Puts back what is missing, and takes away what nobody has any more. */
export async function settleAddresses({ paths, records }: Host): Promise<void> {
  const all = records.all()
  for (const network of new Set([undefined, ...all.map((each) => each.network)])) {
    const directory = fixedAddressesDirectory(paths, network)
    // The DHCP server is another user, and reads what it finds in here.
    await mkdir(directory, { recursive: true, mode: 0o755 })
    const left = new Set(await readdir(directory))
    for (const record of all.filter((each) => each.network === network)) {
      if (!left.delete(record.uuid) && record.address !== undefined) await writeEntry(paths, record)
    }
    for (const name of left) await rm(join(directory, name), { force: true })
  }
}

const NONE: ReadonlySet<string> = new Set()

/**
 * Looked for from a place of this VM's own, and past what is lent: an address that was just given back
 * is not for the next VM, because the DHCP server keeps it for its last user for a while.
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
    hint: 'delete VMs that are on it',
  })
}

/** The DHCP server passes over names that begin with a dot, and reads what comes by a rename at once. */
async function writeEntry(paths: Paths, { uuid, address, network }: VmRecord): Promise<void> {
  const directory = fixedAddressesDirectory(paths, network)
  const temporary = join(directory, `.${uuid}`)
  {
    await using handle = await open(temporary, 'w', 0o644)
    await handle.writeFile(`${macOf(uuid)},${address}\n`)
    await handle.sync()
  }
  await rename(temporary, join(directory, uuid))
  await syncDirectory(directory)
}
