import { readdir, readFile, readlink } from 'node:fs/promises'

const LISTENING = '0A'

/** The process that has a TCP port of this machine, for messages; undefined if that is unknown. */
export async function findPortOwner(port: number): Promise<string | undefined> {
  const inodes = await listeningInodes(port)
  if (inodes.size === 0) return undefined
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) {
    if (!(await hasSocket(pid, inodes))) continue
    const name = (await readFile(`/proc/${pid}/comm`, 'utf8').catch(() => '')).trim()
    return Number(pid) === process.pid ? 'vmd itself' : `${name} (process ${pid})`
  }
  return undefined
}

/** The kernel's table has one line per socket: number, local address, remote address, state, … inode. */
async function listeningInodes(port: number): Promise<Set<string>> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const tables = ['/proc/net/tcp', '/proc/net/tcp6'].map((file) => readFile(file, 'ascii'))
  const lines = (await Promise.all(tables)).flatMap((table) => table.split('\n').slice(1))
  return new Set(
    lines
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(`:${hex}`) && state === LISTENING)
      .map((fields) => `socket:[${fields[9]}]`),
  )
}

/** A process may exit meanwhile. */
async function hasSocket(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  const directory = `/proc/${pid}/fd`
  for (const fd of await readdir(directory).catch(() => [])) {
    if (inodes.has(await readlink(`${directory}/${fd}`).catch(() => ''))) return true
  }
  return false
}
