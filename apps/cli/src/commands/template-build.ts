import { command } from '../command.ts'
import { Failure } from '../failure.ts'
import { path } from '../local-client.ts'
import { doLongWork } from '../operation.ts'
import { imageIn } from '../template-image.ts'

export const templateBuild = command({
  name: 'template build',
  asks: 'vmd',
  instead: 'sudo skerry cloud template add FILE --org ORG --name NAME, on the machine of a cell',
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
