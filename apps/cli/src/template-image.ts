// The image that templates are made of: built, or taken as it is where it was kept.
import { access, copyFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import { builders, buildTemplate } from './build-template.ts'
import { findProgram } from './checks.ts'
import type { World } from './command.ts'
import { Failure } from './failure.ts'
import { showProgress } from './progress.ts'
import { scratchDirectory } from './scratch.ts'

/** What the building of one touches. */
type Building = Pick<World, 'complain' | 'screen' | 'now' | 'wait' | 'runQuietly' | 'path'>

/** The image, which goes away again unless it is to be kept; what is to be kept is whole or not there. */
export async function imageIn(
  world: Building,
  keep: string | undefined,
): Promise<{ file: string } & AsyncDisposable> {
  const nothing = async () => undefined
  if (keep !== undefined && (await isThere(keep))) {
    world.complain(`taking ${keep} as it is; delete it to build anew`)
    return { file: resolve(keep), [Symbol.asyncDispose]: nothing }
  }
  await requirePrograms(world)
  const scratch = await scratchDirectory()
  const away = scratch[Symbol.asyncDispose]
  const built = join(scratch.path, 'debian-12.qcow2')
  try {
    await build(world, scratch.path, built)
    if (keep === undefined) return { file: built, [Symbol.asyncDispose]: away }
    await keepAs(resolve(keep), built)
    await away()
    return { file: resolve(keep), [Symbol.asyncDispose]: nothing }
  } catch (error) {
    await away()
    throw error
  }
}

/** Beside its place first, under a name that nobody else uses at the same time: the place may be on another disk. */
async function keepAs(place: string, built: string): Promise<void> {
  const unfinished = `${place}.${basename(dirname(built))}`
  try {
    await copyFile(built, unfinished)
    await rename(unfinished, place)
  } finally {
    await rm(unfinished, { force: true })
  }
}

/** Without a terminal each step is a line, so that a log tells how far it came. */
async function build(world: Building, work: string, image: string): Promise<void> {
  const label = 'building Debian 12'
  await showProgress(world, label, async (tell) =>
    buildTemplate(work, image, world.runQuietly, (step) => {
      tell(undefined, `${label}: ${step}`)
      if (world.screen === undefined) world.complain(`${label}: ${step}`)
    }),
  )
}

const isThere = async (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

async function requirePrograms({ path: directories }: Pick<World, 'path'>): Promise<void> {
  const missing: string[] = []
  for (const [program, from] of Object.entries(builders)) {
    if ((await findProgram(program, directories)) === undefined) missing.push(from)
  }
  if (missing.length === 0) return
  throw new Failure('refused', `programs that build a template are missing`, {
    hint: `sudo apt install ${missing.join(' ')}`,
  })
}
