// Which Debian packages are needed for what, and which of them are missing.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const LIST = join(import.meta.dirname, '../../debian-packages.txt')

/**
 * What somebody wants to do: run our programs at all, run a host, build the small guest, build the Debian guest, compare with others,
 * look at what a person's terminal shows, judge our package, run a database, run the clients of other makers.
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

/** The packages that are not there: for one use, or for all of them. */
export function missingPackages(use?: Use): string[] {
  return readFileSync(LIST, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(/\s+/))
    .filter(([, proof = '', usedBy]) => (use ?? usedBy) === usedBy && !existsSync(proof))
    .map(([name = '']) => name)
}

/** Stops with the names of the packages that are missing, and with what to do about it; also when we are not root. */
export function requirePrograms(...uses: Use[]): void {
  const reason = reasonToSkip(...uses)
  if (reason !== undefined) throw new Error(reason)
}

/** Why something that needs root and these packages cannot be done here, or undefined when it can. */
export function reasonToSkip(...uses: Use[]): string | undefined {
  return (
    reasonWithoutRoot(...uses) ??
    (isRoot() ? undefined : 'needs root: it makes namespaces and mounts')
  )
}

/** The same for what any user may do. */
export function reasonWithoutRoot(...uses: Use[]): string | undefined {
  const missing = uses.flatMap((use) => missingPackages(use))
  return missing.length === 0 ? undefined : `needs ${missing.join(', ')}: run npm run setup as root`
}

function isRoot(): boolean {
  return process.getuid?.() === 0
}
