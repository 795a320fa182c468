import { command } from '../../command.ts'
import { doLongWork } from '../../local/operation.ts'
import { imageIn } from '../../templates/template-image.ts'
import { Failure } from '../../terminal/failure.ts'
import { path } from '../../vms/local-client.ts'

export const templateBuild = command({
  name: 'template build',
  asks: 'vmd',
  instead: 'sudo skerry admin template import FILE --org ORG --name NAME, on the machine of a cell',
  usage: '',
  summary:
    'build the template "default", Debian 12 from packages; needs root and takes some minutes',
  examples: ['sudo skerry template build', 'sudo skerry template build --keep debian-12.qcow2'],
  next: 'skerry create my-vm --ssh-key ~/.ssh/id_ed25519.pub --start',
  options: {
    keep: {
      type: 'string',
      value: 'FILE',
      doc: 'also save the image in this file; an existing file is used instead of building',
    },
  },
  async run(context, { options: { keep }, json }) {
    if (context.uid !== 0) {
      throw new Failure('refused', 'building a template needs root', {
        hint: 'sudo skerry template build',
      })
    }
    // Fail before the build, not after it, if vmd is unreachable.
    await context.api.ask('GET', path('templates'))
    await using image = await imageIn(context, keep)
    const where = `${path('templates')}?default`
    const made = await doLongWork(context, 'importing the template', 'POST', where, {
      file: image.file,
    })
    context.print(json ? JSON.stringify(made, null, 2) : 'template default is ready: Debian 12')
  },
})
