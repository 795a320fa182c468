import { readdirSync, readFile, readlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'

import { sharedRead } from './shared-read.ts'

/** Takes a quarter of the time of node:fs/promises for a file of unknown length. */
const read = promisify(readFile)
/** The kernel takes a millisecond or two to write a table, so concurrent connections share one read. */
const readTable = {
  tcp: sharedRead(() => read('/proc/net/tcp', 'ascii')),
  tcp6: sharedRead(() => read('/proc/net/tcp6', 'ascii')),
}

/** The kernel returns its table in pieces, and a line can be missed between two of them. */
const LOOKS = 3

/** The two ends of a connection. */
export interface Ends {
  readonly theirs: { readonly address: string; readonly port: number }
  readonly ours: { readonly address: string; readonly port: number }
}

/** The holder of the other end of a connection. */
export interface Holder {
  readonly uid: number
  /** Identifies the socket within this machine. */
  readonly inode: string
}

/**
 * The user at the other end of a local connection, from the kernel's tables; undefined if no
 * process holds it: it is already closed, or the peer is not on this machine.
 */
export async function findPeer(socket: Socket): Promise<Holder | undefined> {
  const { remoteAddress, remotePort, localAddress, localPort } = socket
  if (!remoteAddress || !remotePort || !localAddress || !localPort) return undefined
  const ends = {
    theirs: { address: remoteAddress, port: remotePort },
    ours: { address: localAddress, port: localPort },
  }
  for (let look = 0; look < LOOKS; look++) {
    for (const table of tablesOf(ends)) {
      const holder = findHolder(await readTable[table](), ends)
      if (holder !== undefined) return holder
    }
  }
  return undefined
}

/** Whether this process itself holds a socket: then it is its own peer. */
export function isOwnSocket(inode: string): boolean {
  const own = `socket:[${inode}]`
  return readdirSync('/proc/self/fd').some((fd) => linkOf(`/proc/self/fd/${fd}`) === own)
}

/** A descriptor may have been closed since the directory was read. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

/** Programs may use IPv4 over an IPv6 socket; their end is then in the IPv6 table. */
const tablesOf = ({ theirs }: Ends): readonly (keyof typeof readTable)[] =>
  theirs.address.includes(':') ? ['tcp6'] : ['tcp', 'tcp6']

/** The peer's line has the peer's address as its local address. */
export function findHolder(table: string, { theirs, ours }: Ends): Holder | undefined {
  for (const form of [hexAddress, hexMapped]) {
    const pair = ` ${form(theirs.address)}:${hexPort(theirs.port)} ${form(ours.address)}:${hexPort(ours.port)} `
    const start = table.indexOf(pair)
    if (start === -1) continue
    const fields = table.slice(start + 1, table.indexOf('\n', start)).split(/\s+/)
    const [uid, inode] = [fields[6], fields[8]]
    // A socket that its program has closed has no owner; the kernel reports it as user 0.
    if (uid === undefined || inode === undefined || inode === '0') return undefined
    return { uid: Number(uid), inode }
  }
  return undefined
}

const hexPort = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0')

/** The kernel prints an address as 32-bit words in host byte order, which is little-endian. */
const hexAddress = (address: string): string =>
  hexWords(address.includes(':') ? ipv6Bytes(address) : ipv4Bytes(address))

const hexMapped = (address: string): string =>
  hexWords(ipv6Bytes(address.includes(':') ? address : `::ffff:${address}`))

const hexWords = (bytes: Buffer): string => bytes.swap32().toString('hex').toUpperCase()

const ipv4Bytes = (address: string): Buffer => Buffer.from(address.split('.').map(Number))

/** Only loopback connects here, so only its two forms are parsed. */
function ipv6Bytes(address: string): Buffer {
  const bytes = Buffer.alloc(16)
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) {
    bytes.fill(0xff, 10, 12)
    bytes.set(ipv4Bytes(mapped), 12)
  } else if (address === '::1') bytes[15] = 1
  return bytes
}
