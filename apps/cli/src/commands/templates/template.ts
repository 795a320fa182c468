import { join, resolve } from 'node:path'

import { renderTable } from '@skerry/command-line'

import { command, type CliContext } from '../../command.ts'
import { doAndSay } from '../../help/print-result.ts'
import { download } from '../../templates/download.ts'
import { scratchDirectory } from '../../templates/scratch.ts'
import { Failure } from '../../terminal/failure.ts'
import { sizeMiB, wholeNumber } from '../../terminal/number.ts'
import { showProgress } from '../../terminal/progress.ts'
import { path } from '../../vms/local-client.ts'

/** The limit of packages/vm for every name. */
const NAME_MAX = 63

export const template = [
  command({
    name: 'template list',
    usage: '',
    summary: 'list the templates for new VMs',
    examples: ['skerry template list'],
    next: 'skerry create ID --template TEMPLATE creates a VM from one',
    async run({ verbs, print, complain, colours }, { json }) {
      const rows = await verbs.templates()
      const { templateColumns } = verbs
      print(json ? JSON.stringify(rows, null, 2) : renderTable(templateColumns, rows, colours))
      if (rows.length === 0 && !json)
        complain('next: sudo skerry template build, or skerry template import FILE --default')
    },
  }),
  command({
    name: 'template import',
    usage: 'FILE',
    summary: 'import a disk image from a file or an HTTP URL: qcow2 or, on this machine, raw',
    examples: [
      'skerry template import debian-12.qcow2 --default',
      'skerry template import debian-12.qcow2 --on work --name debian --memory 1G',
      'skerry template import https://example.org/debian-12.qcow2 --name debian --sha256 8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4',
    ],
    next: 'skerry create ID, or skerry create ID --template TEMPLATE',
    options: {
      name: { type: 'string', doc: 'template name (default: the file name)' },
      default: { type: 'boolean', doc: 'make it the default template, replacing the current one' },
      sha256: {
        type: 'string',
        value: 'DIGEST',
        doc: 'reject the image if its SHA-256 digest differs',
      },
      catalog: {
        type: 'string',
        value: 'CATALOG',
        doc: 'cloud only: target catalog, if there are several',
      },
      cpus: { type: 'string', value: 'N', doc: 'cloud only: number of CPUs of its VMs' },
      memory: { type: 'string', value: 'SIZE', doc: 'cloud only: memory of its VMs, e.g. 1G' },
    },
    async run(context, { words: [source = ''], options, json }) {
      const name = options.default === true ? 'default' : (options.name ?? nameOf(source))
      if (options.default !== true) await requireFree(context, name)
      if (options.sha256 !== undefined) requireDigest(options.sha256)
      await using image = await fetchImage(context, source)
      const wanted = {
        name,
        file: image.file,
        sha256: options.sha256,
        isDefault: options.default === true,
        catalog: options.catalog,
        cpus: wholeNumber('--cpus', options.cpus),
        memoryMiB: sizeMiB('--memory', options.memory),
      }
      const how = { label: `importing ${name}`, wait: true, json }
      await doAndSay(context, how, (doing) => context.verbs.importTemplate(wanted, doing))
    },
  }),
  command({
    name: 'template rm',
    asks: 'vmd',
    instead: 'a template of a cloud cannot be deleted; import the next one under another name',
    usage: 'TEMPLATE',
    summary: 'delete a template; VMs made from it keep their disks',
    examples: ['skerry template rm old'],
    next: 'skerry template list lists the others',
    async run({ api, print }, { words: [name = ''], json }) {
      await api.ask('DELETE', path('templates', name))
      print(json ? JSON.stringify({ removed: name }, null, 2) : `template ${name} is deleted`)
    },
  }),
]

/** A valid template name from the last segment of a path or URL. */
export const nameOf = (source: string): string =>
  (source.split(/[?#]/)[0] ?? '')
    .replace(/^.*\//, '')
    .replace(/\.(qcow2|img|raw)$/, '')
    .replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, NAME_MAX) || 'image'

/** A local file as it is; a URL is downloaded to a temporary file. */
async function fetchImage(
  context: CliContext,
  source: string,
): Promise<{ file: string } & AsyncDisposable> {
  if (!/^https?:\/\//.test(source)) {
    return { file: resolve(source), [Symbol.asyncDispose]: async () => undefined }
  }
  const scratch = await scratchDirectory()
  const file = join(scratch.path, 'image')
  const label = `downloading ${nameOf(source)}`
  try {
    await showProgress(context, label, async (report) => download(source, file, label, report))
  } catch (error) {
    await scratch[Symbol.asyncDispose]()
    throw error
  }
  return { file, [Symbol.asyncDispose]: scratch[Symbol.asyncDispose] }
}

/** Checks the name before a long download, not after it. */
async function requireFree({ verbs }: CliContext, name: string): Promise<void> {
  if (!(await verbs.templates()).some((each) => each.name === name)) return
  throw new Failure('refused', `there is already a template ${name}`, {
    hint: verbs.otherTemplate(name),
  })
}

function requireDigest(text: string): void {
  if (/^[0-9A-Fa-f]{64}$/.test(text)) return
  throw new Failure('usage', `--sha256 must be 64 digits of 0-9 and a-f, not ${text}`, {
    hint: 'sha256sum FILE prints it; most image providers publish it',
  })
}
