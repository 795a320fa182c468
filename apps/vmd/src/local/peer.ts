import { readFile } from 'node:fs'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'

import { sharedRead } from './shared-read.ts'

/** In a quarter of the time that the one of node:fs/promises needs for a file of unknown length. */
const read = promisify(readFile)
/** The kernel writes a table in a millisecond or two, so connections that come together share one. */
const readTable = {
  tcp: sharedRead(() => read('/proc/net/tcp', 'ascii')),
  tcp6: sharedRead(() => read('/proc/net/tcp6', 'ascii')),
}

/** The kernel hands its table out in pieces, and a line can slip between two of them. */
const LOOKS = 3

/** One connection, as whoever is at its other end sees it. */
export interface Ends {
  readonly theirs: { readonly address: string; readonly port: number }
  readonly ours: { readonly address: string; readonly port: number }
}

/**
 * The user at the other end of a connection of this machine, as the kernel's tables have it;
 * undefined when nobody there holds it: it is closed again, or was never of this machine.
 */
export async function peerUid(socket: Socket): Promise<number | undefined> {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  if (!remoteAddress || !remotePort || !localAddress || !localPort) return undefined
  const ends = {
    theirs: { address: remoteAddress, port: remotePort },
    ours: { address: localAddress, port: localPort },
  }
  for (let look = 0; look < LOOKS; look++) {
    for (const table of tablesOf(ends)) {
      const uid = findUid(await readTable[table](), ends)
      if (uid !== undefined) return uid
    }
  }
  return undefined
}

/** Programs may speak IPv4 by a socket of the newer kind; their end is then in the newer table. */
const tablesOf = ({ theirs }: Ends): readonly (keyof typeof readTable)[] =>
  theirs.address.includes(':') ? ['tcp6'] : ['tcp', 'tcp6']

/** Seen from the other end: its own address is the local one of its line. */
export function findUid(table: string, { theirs, ours }: Ends): number | undefined {
  for (const form of [hexAddress, hexMapped]) {
    const pair = ` ${form(theirs.address)}:${hexPort(theirs.port)} ${form(ours.address)}:${hexPort(ours.port)} `
    const start = table.indexOf(pair)
    if (start === -1) continue
    const fields = table.slice(start + 1, table.indexOf('\n', start)).split(/\s+/)
    const [uid, inode] = [fields[6], fields[8]]
    // A socket that its program has closed belongs to nobody, and the kernel writes that as user 0.
    return uid === undefined || inode === undefined || inode === '0' ? undefined : Number(uid)
  }
  return undefined
}

const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')

/** The kernel writes an address as 32-bit words in the order of the machine, which is little-endian. */
const hexAddress = (address: string): string =>
  hexWords(address.includes(':') ? ipv6Bytes(address) : ipv4Bytes(address))

const hexMapped = (address: string): string =>
  hexWords(ipv6Bytes(address.includes(':') ? address : `::ffff:${address}`))

const hexWords = (bytes: Buffer): string => bytes.swap32().toString('hex').toUpperCase()

const ipv4Bytes = (address: string): Buffer => Buffer.from(address.split('.').map(Number))

/** Only loopback connects here, so only its two forms have to be read. */
function ipv6Bytes(address: string): Buffer {
  const bytes = Buffer.alloc(16)
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) {
    bytes.fill(0xff, 10, 12)
    bytes.set(ipv4Bytes(mapped), 12)
  } else if (address === '::1') bytes[15] = 1
  return bytes
}
