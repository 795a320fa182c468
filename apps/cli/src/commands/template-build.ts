import { access, copyFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import { builders, buildTemplate } from '../build-template.ts'
import { findProgram } from '../checks.ts'
import { command, type World } from '../command.ts'
import { Failure } from '../failure.ts'
import { path } from '../local-client.ts'
import { doLongWork } from '../operation.ts'
import { showProgress } from '../progress.ts'
import { scratchDirectory } from '../scratch.ts'

export const templateBuild = command({
  name: 'template build',
  usage: '',
  summary: 'make the template default: Debian 12 out of packages, as root, in some minutes',
  examples: ['sudo skerry template build', 'sudo skerry template build --keep debian-12.qcow2'],
  next: 'skerry create my-vm --ssh-key ~/.ssh/id_ed25519.pub --start',
  options: {
    keep: {
      type: 'string',
      value: 'FILE',
      doc: 'keep the image in this file too; one that is there already is taken as it is',
    },
  },
  async run(world, { options: { keep }, json }) {
    if (world.uid !== 0) {
      throw new Failure('refused', 'building a template needs root, whose files are in it', {
        hint: 'sudo skerry template build',
      })
    }
    // Whether there is a daemon to give it to is better known before the work than after it.
    await world.api.ask('GET', path('templates'))
    await using image = await imageIn(world, keep)
    const where = `${path('templates')}?default`
    const made = await doLongWork(world, 'importing it', 'POST', where, { file: image.file })
    world.print(json ? JSON.stringify(made, null, 2) : 'template default is there: Debian 12')
  },
})

/** The image, which goes away again unless it is to be kept; what is to be kept is whole or not there. */
async function imageIn(
  world: World,
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
async function build(world: World, work: string, image: string): Promise<void> {
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

async function requirePrograms({ path: directories }: World): Promise<void> {
  const missing: string[] = []
  for (const [program, from] of Object.entries(builders)) {
    if ((await findProgram(program, directories)) === undefined) missing.push(from)
  }
  if (missing.length === 0) return
  throw new Failure('refused', `programs that build a template are missing`, {
    hint: `sudo apt install ${missing.join(' ')}`,
  })
}
