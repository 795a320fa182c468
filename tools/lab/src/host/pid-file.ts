// Daemons of a host, found by the pid files that they write on it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { fromInside, isAlive, nameOf } from '../system/processes.ts'

/** The pid of a daemon as the machine sees it, or undefined if it does not run. `file` is in /run of the host. */
export function pidOfDaemon(
  host: { readonly dir: string; readonly init: number },
  file: string,
  name: string,
): number | undefined {
  let inside: number
  try {
    inside = Number(readFileSync(join(host.dir, 'run', file), 'utf8'))
  } catch {
    return undefined
  }
  const pid = fromInside(host.init, inside)
  // The file survives a killed daemon, and its pid may belong to another process by now.
  return pid !== undefined && nameOf(pid) === name && isAlive(pid) ? pid : undefined
}
