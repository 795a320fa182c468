// Checks whether a server listens, without connecting.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const LISTENS = '0A'

/** Whether a process itself listens on this IPv4 port, in any network. */
export function isListening(pid: number, port: number): boolean {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  try {
    const [, ...lines] = readFileSync(`/proc/${pid}/net/tcp`, 'latin1').trim().split('\n')
    const sockets = lines.flatMap((line) => {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
      return state === LISTENS && local?.endsWith(wanted) ? [`socket:[${inode}]`] : []
    })
    // The port alone is not enough: a process that has not entered its network yet still sees ours.
    return sockets.length > 0 && filesOf(pid).some((file) => sockets.includes(file))
  } catch {
    return false
  }
}

function filesOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)]
    } catch {
      // Closed while we looked.
      return []
    }
  })
}
