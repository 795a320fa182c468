// The Debian packages needed for each use, and which of them are missing.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const LIST = join(import.meta.dirname, '../../../debian-packages.txt')

/**
 * A use: run our programs at all, run a host, build the small guest, build the Debian guest, compare with others, check terminal
 * output, check our package, run a database, run clients of other vendors, join hosts by networks of tenants, log in
 * with a directory.
 */
export type Use =
  | 'node'
  | 'host'
  | 'small'
  | 'debian'
  | 'bench'
  | 'terminal'
  | 'package'
  | 'cloud'
  | 'browser'
  | 'console'
  | 'clients'
  | 'monitor'
  | 'network'
  | 'identity'

/** The missing packages: for one use, or for all of them. */
export function missingPackages(use?: Use): string[] {
  return readFileSync(LIST, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/\s+/))
    .filter(([, proof = '', usedBy]) => (use ?? usedBy) === usedBy && !existsSync(proof))
    .map(([name = '']) => name)
}

/** Throws with the names of missing packages and how to install them; also if we are not root. */
export function requirePrograms(...uses: Use[]): void {
  const reason = reasonToSkip(...uses)
  if (reason !== undefined) throw new Error(reason)
}

/** Why work that needs root and these packages cannot be done here, or undefined if it can. */
export function reasonToSkip(...uses: Use[]): string | undefined {
  return (
    reasonWithoutRoot(...uses) ??
    (isRoot() ? undefined : 'needs root: it creates namespaces and mounts')
  )
}

/** The same for work that any user may do. */
export function reasonWithoutRoot(...uses: Use[]): string | undefined {
  const missing = uses.flatMap((use) => missingPackages(use))
  return missing.length === 0 ? undefined : `needs ${missing.join(', ')}: run npm run setup as root`
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}
