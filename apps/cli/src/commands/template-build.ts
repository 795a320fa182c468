import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { builders, buildTemplate } from '../build-template.ts'
import { findProgram } from '../checks.ts'
import { command, type World } from '../command.ts'
import { Failure } from '../failure.ts'
import { path } from '../local-client.ts'
import { doLongWork } from '../operation.ts'
import { showProgress } from '../progress.ts'

export const templateBuild = command({
  name: 'template build',
  usage: '',
  summary: 'make the template default: Debian 12 out of packages, as root, in some minutes',
  examples: ['sudo skerry template build'],
  next: 'skerry create my-vm --ssh-key ~/.ssh/id_ed25519.pub --start',
  async run(world, { json }) {
    if (world.uid !== 0) {
      throw new Failure('refused', 'building a template needs root, whose files are in it', {
        hint: 'sudo skerry template build',
      })
    }
    await requirePrograms(world)
    // Whether there is a daemon to give it to is better known before the work than after it.
    await world.api.ask('GET', path('templates'))
    const work = await mkdtemp(join(tmpdir(), 'skerry-template-'))
    try {
      const file = await showProgress(world, 'building Debian 12', async () =>
        buildTemplate(work, world.runQuietly, world.screen ? () => undefined : world.complain),
      )
      const where = `${path('templates')}?default`
      const made = await doLongWork(world, 'importing it', 'POST', where, { file })
      world.print(json ? JSON.stringify(made, null, 2) : 'template default is there: Debian 12')
    } finally {
      await rm(work, { recursive: true, force: true })
    }
  },
})

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
