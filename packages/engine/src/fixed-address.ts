import { createHash } from 'node:crypto'
import { open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'

import type { Host } from './host.ts'
import { macOf } from './mac.ts'
import { fixedAddressesDirectory, type Paths } from './paths.ts'
import { syncDirectory, type VmRecord } from './record.ts'

/** 10.83.32.0 to 10.83.255.255, behind those that DHCP gives out by itself. */
const FIRST_BLOCK = 32
const BLOCKS = 256 - FIRST_BLOCK
const PER_BLOCK = 254

/**
 * Gives a VM the address that DHCP will answer it with for as long as it is there, whatever
 * restarts. The DHCP server watches a directory with one file for each VM; to tell it through
 * libvirt would take the network's firewall rules away and put them back each time.
 */
export async function fixAddress(host: Host, record: VmRecord): Promise<VmRecord> {
  // Chosen and remembered in one go, so that no other VM chooses the same.
  const fixed = host.records.remember({ ...record, address: firstFree(host, record.uuid) })
  await writeEntry(host.paths, fixed)
  return fixed
}

/** A VM that comes from another host keeps the address it has, where nobody here has it already. */
export async function keepAddress(host: Host, record: VmRecord): Promise<VmRecord> {
  const { address, uuid } = record
  if (address === undefined) return record
  const isTaken = host.records.all().some((each) => each.uuid !== uuid && each.address === address)
  if (isTaken) return fixAddress(host, record)
  await writeEntry(host.paths, record)
  return record
}

/** The DHCP server forgets it at its next start; until then nobody has that network card. */
export async function freeAddress({ paths }: Host, { uuid }: VmRecord): Promise<void> {
  await rm(join(fixedAddressesDirectory(paths), uuid), { force: true })
}

/** Puts back what is missing, and takes away what nobody has any more. */
export async function settleAddresses({ paths, records }: Host): Promise<void> {
  const directory = fixedAddressesDirectory(paths)
  const left = new Set(await readdir(directory))
  for (const record of records.all()) {
    if (!left.delete(record.uuid) && record.address !== undefined) await writeEntry(paths, record)
  }
  for (const name of left) await rm(join(directory, name), { force: true })
}

/**
 * Looked for from a place of this VM's own: an address that was just given back is not for the next
 * VM, because the DHCP server keeps it for its last user for a while.
 */
function firstFree({ records }: Host, uuid: string): string {
  const taken = new Set(records.all().map(({ address }) => address))
  const all = BLOCKS * PER_BLOCK
  const first = createHash('sha256').update(uuid).digest().readUInt32BE(8) % all
  for (let step = 0; step < all; step++) {
    const at = (first + step) % all
    const address = `10.83.${FIRST_BLOCK + Math.floor(at / PER_BLOCK)}.${1 + (at % PER_BLOCK)}`
    if (!taken.has(address)) return address
  }
  throw new Fault('no-room', 'every address of the network is taken', { hint: 'delete VMs' })
}

/** The DHCP server passes over names that begin with a dot, and reads what comes by a rename at once. */
async function writeEntry(paths: Paths, { uuid, address }: VmRecord): Promise<void> {
  const directory = fixedAddressesDirectory(paths)
  const temporary = join(directory, `.${uuid}`)
  {
    await using handle = await open(temporary, 'w', 0o644)
    await handle.writeFile(`${macOf(uuid)},${address}\n`)
    await handle.sync()
  }
  await rename(temporary, join(directory, uuid))
  await syncDirectory(directory)
}
