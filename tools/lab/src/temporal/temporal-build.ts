// Temporal's server, built once from Go modules and kept outside the repository.
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { temporalBuild, temporalFiles, temporalVersion, whyNotGo } from '@skerry/site'

import { cacheDirectory } from '../system/cache-directory.ts'
import { lockFile } from '../system/lock-file.ts'
import { attempt, run } from '../system/run.ts'

export interface TemporalPrograms {
  readonly server: string
  /** Creates and upgrades its tables. */
  readonly sql: string
}

const say = (line: string) => void process.stderr.write(`temporal: ${line}\n`)

/** The paths of the programs; builds them first if they are missing. Concurrent callers wait for the same build. */
export async function temporalPrograms(): Promise<TemporalPrograms> {
  const { home, ...programs } = temporalFiles(cacheDirectory())
  const there = () => existsSync(programs.server) && existsSync(programs.sql)
  if (there()) return programs
  await mkdir(home, { recursive: true })
  await using _ = await lockFile(`${home}.lock`)
  if (!there()) await build(home)
  return programs
}

/** Why tests that need a Temporal server cannot run here, or undefined if they can, possibly after a build. */
export async function reasonWithoutTemporal(): Promise<string | undefined> {
  const { server, sql } = temporalFiles(cacheDirectory())
  if (existsSync(server) && existsSync(sql)) return undefined
  return goIsMissing()
}

async function goIsMissing(): Promise<string | undefined> {
  const found = await attempt(['go', 'env', 'GOVERSION']).catch(() => undefined)
  return whyNotGo(found?.code === 0 ? found.stdout : undefined)
}

async function build(home: string): Promise<void> {
  const missing = await goIsMissing()
  if (missing !== undefined) throw new Error(missing)
  say(`building ${temporalVersion} into ${home}; this happens once and takes several minutes`)
  const began = performance.now()
  const unfinished = await mkdtemp(`${home}.unfinished-`)
  try {
    await run(['go', ...temporalBuild.words], {
      env: { ...process.env, ...temporalBuild.env, GOBIN: unfinished },
      loud: true,
    })
    for (const name of temporalBuild.programs)
      await rename(join(unfinished, name), join(home, name))
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
  say(`built in ${Math.round((performance.now() - began) / 1000)} s`)
}
