// Temporal's server, built once from Go modules and kept outside the repository.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheDirectory } from './cache-directory.ts'
import { lockFile } from './lock-file.ts'
import { attempt, run } from './run.ts'

export const TEMPORAL_VERSION = 'v1.32.1'
/** What the server's go.mod asks for. */
const OLDEST_GO = [1, 26] as const

export interface TemporalPrograms {
  readonly server: string
  /** Makes and upgrades its tables. */
  readonly sql: string
}

const say = (line: string) => void process.stderr.write(`temporal: ${line}\n`)

/** The paths of the programs, which are built first when they are not there. Whoever asks meanwhile waits for the same build. */
export async function temporalPrograms(): Promise<TemporalPrograms> {
  const home = join(cacheDirectory(), `temporal-${TEMPORAL_VERSION}`)
  const programs = { server: join(home, 'server'), sql: join(home, 'sql') }
  const there = () => existsSync(programs.server) && existsSync(programs.sql)
  if (there()) return programs
  await mkdir(home, { recursive: true })
  await using _ = await lockFile(`${home}.lock`)
  if (!there()) await build(home)
  return programs
}

/** Why tests that need a Temporal server cannot run here, or undefined when they can, building it first perhaps. */
export async function reasonWithoutTemporal(): Promise<string | undefined> {
  const home = join(cacheDirectory(), `temporal-${TEMPORAL_VERSION}`)
  if (existsSync(join(home, 'server')) && existsSync(join(home, 'sql'))) return undefined
  return goIsMissing()
}

async function goIsMissing(): Promise<string | undefined> {
  const wanted = OLDEST_GO.join('.')
  const advice = `install Go ${wanted} or newer from https://go.dev/dl and put it on PATH`
  const found = await attempt(['go', 'env', 'GOVERSION']).catch(() => undefined)
  if (found === undefined || found.code !== 0) {
    return `the Temporal server is built with Go, which is not there: ${advice}`
  }
  const [major = 0, minor = 0] = found.stdout.trim().replace('go', '').split('.').map(Number)
  const enough = major > OLDEST_GO[0] || (major === OLDEST_GO[0] && minor >= OLDEST_GO[1])
  return enough
    ? undefined
    : `the Temporal server needs a newer Go than ${found.stdout.trim()}: ${advice}`
}

async function build(home: string): Promise<void> {
  const missing = await goIsMissing()
  if (missing !== undefined) throw new Error(missing)
  say(`building ${TEMPORAL_VERSION} into ${home}, which is done once and takes several minutes`)
  const began = performance.now()
  const unfinished = await mkdtemp(`${home}.unfinished-`)
  try {
    const programs = ['server', 'tools/sql'].map(
      (part) => `go.temporal.io/server/cmd/${part}@${TEMPORAL_VERSION}`,
    )
    await run(['go', 'install', ...programs], {
      env: { ...process.env, GOBIN: unfinished },
      loud: true,
    })
    for (const name of ['server', 'sql']) await rename(join(unfinished, name), join(home, name))
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  say(`built in ${Math.round((performance.now() - began) / 1000)} s`)
}
