// The image of a template: built, or an existing file from an earlier build.
import { access, copyFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import type { CliContext } from '../command.ts'
import { findProgram } from '../machine/checks.ts'
import { Failure } from '../terminal/failure.ts'
import { showProgress } from '../terminal/progress.ts'
import { builders, buildTemplate } from './build-template.ts'
import { scratchDirectory } from './scratch.ts'

/** The part of the context that a build uses. */
type Building = Pick<CliContext, 'complain' | 'screen' | 'now' | 'wait' | 'runQuietly' | 'path'>

/** The image; deleted afterwards unless `keep` is given. A kept file is complete or absent. */
export async function imageIn(
  context: Building,
  keep: string | undefined,
): Promise<{ file: string } & AsyncDisposable> {
  const nothing = async () => undefined
  if (keep !== undefined && (await isThere(keep))) {
    context.complain(`using the existing ${keep}; delete it to build again`)
    return { file: resolve(keep), [Symbol.asyncDispose]: nothing }
  }
  await requirePrograms(context)
  const scratch = await scratchDirectory()
  const away = scratch[Symbol.asyncDispose]
  const built = join(scratch.path, 'debian-12.qcow2')
  try {
    await build(context, scratch.path, built)
    if (keep === undefined) return { file: built, [Symbol.asyncDispose]: away }
    await keepAs(resolve(keep), built)
    await away()
    return { file: resolve(keep), [Symbol.asyncDispose]: nothing }
  } catch (error) {
    await away()
    throw error
  }
}

/** Copies to a unique name beside the target first, because the target may be on another disk. */
async function keepAs(place: string, built: string): Promise<void> {
  const unfinished = `${place}.${basename(dirname(built))}`
  try {
    await copyFile(built, unfinished)
    await rename(unfinished, place)
  } finally {
    await rm(unfinished, { force: true })
  }
}

/** Without a terminal each step is printed as a line, so that a log shows the progress. */
async function build(context: Building, work: string, image: string): Promise<void> {
  const label = 'building Debian 12'
  await showProgress(context, label, async (report) =>
    buildTemplate(work, image, context.runQuietly, (step) => {
      report(undefined, `${label}: ${step}`)
      if (context.screen === undefined) context.complain(`${label}: ${step}`)
    }),
  )
}

const isThere = async (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

async function requirePrograms({ path: directories }: Pick<CliContext, 'path'>): Promise<void> {
  const missing: string[] = []
  for (const [program, from] of Object.entries(builders)) {
    if ((await findProgram(program, directories)) === undefined) missing.push(from)
  }
  if (missing.length === 0) return
  throw new Failure('refused', `programs to build a template are missing`, {
    hint: `sudo apt install ${missing.join(' ')}`,
  })
}
