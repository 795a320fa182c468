// The programs of the Temporal server. The Debian package contains them; a clone builds them once from Go modules and stores them outside of the repository.
import { join } from 'node:path'

export const temporalVersion = 'v1.32.1'
/** The Go version that the server's go.mod requires. */
const OLDEST_GO = [1, 26] as const

/** The server, and the tool that creates and upgrades its tables. */
const parts = { server: 'server', sql: 'tools/sql' } as const

/** The directory of `packages` and `apps`. */
const ROOT = join(import.meta.dirname, '../../..')

/** Paths of the programs that the Debian package contains; a clone has nothing there. */
export function packagedTemporal(root = ROOT): { readonly server: string; readonly sql: string } {
  const home = join(root, 'temporal')
  return { server: join(home, 'temporal-server'), sql: join(home, 'temporal-sql-tool') }
}

/** Paths of the programs in the cache directory; several versions can coexist. */
export function temporalFiles(cache: string): {
  readonly home: string
  readonly server: string
  readonly sql: string
} {
  const home = join(cache, `temporal-${temporalVersion}`)
  return { home, server: join(home, 'server'), sql: join(home, 'sql') }
}

/**
 * Arguments and environment of go, and the names of the programs that it writes to GOBIN. Without C and without paths of this machine,
 * the same Go gives the same bytes everywhere; without debug information the programs are a third smaller.
 */
export const temporalBuild = {
  env: { CGO_ENABLED: '0' },
  words: [
    'install',
    '-trimpath',
    '-ldflags=-s -w',
    ...Object.values(parts).map((part) => `go.temporal.io/server/cmd/${part}@${temporalVersion}`),
  ],
  programs: Object.keys(parts),
} as const

/** Why Temporal cannot be built, given the output of `go env GOVERSION` or undefined without Go; undefined if it can. */
export function whyNotGo(goVersion: string | undefined): string | undefined {
  const wanted = OLDEST_GO.join('.')
  const advice = `install Go ${wanted} or newer from https://go.dev/dl and put it on PATH`
  if (goVersion === undefined) {
    return `Go, needed to build the Temporal server, is not installed: ${advice}`
  }
  const [major = 0, minor = 0] = goVersion.trim().replace('go', '').split('.').map(Number)
  const isEnough = major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1])
  return isEnough
    ? undefined
    : `the Temporal server needs a newer Go than ${goVersion.trim()}: ${advice}`
}
