// Temporal's server is built once, out of Go modules, and kept outside of the repository.
import { join } from 'node:path'

export const temporalVersion = 'v1.32.1'
/** What the server's go.mod asks for. */
const OLDEST_GO = [1, 26] as const

/** The server, and the tool that makes and upgrades its tables. */
const parts = { server: 'server', sql: 'tools/sql' } as const

/** Where the programs are, below the directory of what takes long to make; several versions may lie side by side. */
export function temporalFiles(cache: string): {
  readonly home: string
  readonly server: string
  readonly sql: string
} {
  const home = join(cache, `temporal-${temporalVersion}`)
  return { home, server: join(home, 'server'), sql: join(home, 'sql') }
}

/** What Go is asked, and the names of the programs that are then in its GOBIN. */
export const temporalBuild = {
  words: [
    'install',
    ...Object.values(parts).map((part) => `go.temporal.io/server/cmd/${part}@${temporalVersion}`),
  ],
  programs: Object.keys(parts),
} as const

/** Why a Go cannot build it, given what `go env GOVERSION` said, or undefined where there is none; and where a Go is to be had. */
export function whyNotGo(said: string | undefined): string | undefined {
  const wanted = OLDEST_GO.join('.')
  const advice = `install Go ${wanted} or newer from https://go.dev/dl and put it on PATH`
  if (said === undefined) {
    return `the Temporal server is built with Go, which is not there: ${advice}`
  }
  const [major = 0, minor = 0] = said.trim().replace('go', '').split('.').map(Number)
  const isEnough = major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1])
  return isEnough
    ? undefined
    : `the Temporal server needs a newer Go than ${said.trim()}: ${advice}`
}
