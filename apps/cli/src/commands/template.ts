import { join, resolve } from 'node:path'

import { command, type World } from '../command.ts'
import { download } from '../download.ts'
import { Failure } from '../failure.ts'
import { path } from '../local-client.ts'
import { sizeMiB, wholeNumber } from '../number.ts'
import { showProgress } from '../progress.ts'
import { doAndSay } from '../say.ts'
import { scratchDirectory } from '../scratch.ts'
import { renderTable } from '../table.ts'

/** As packages/vm has it for every name. */
const NAME_MAX = 63

export const template = [
  command({
    name: 'template list',
    usage: '',
    summary: 'the images that VMs can be made from',
    examples: ['skerry template list'],
    next: 'skerry create ID --template TEMPLATE makes a VM from one',
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
    summary:
      'take over an image of yours, or one at an http address: qcow2 or, on this machine, raw',
    examples: [
      'skerry template import debian-12.qcow2 --default',
      'skerry template import debian-12.qcow2 --on work --name debian --memory 1G',
      'skerry template import https://example.org/debian-12.qcow2 --name debian --sha256 8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4',
    ],
    next: 'skerry create ID, or skerry create ID --template TEMPLATE',
    options: {
      name: { type: 'string', doc: 'what to call it; the name of the file unless told' },
      default: { type: 'boolean', doc: 'make it the one VMs are made from, in place of the old' },
      sha256: { type: 'string', value: 'DIGEST', doc: 'refuse it unless this is its digest' },
      catalog: { type: 'string', value: 'CATALOG', doc: 'of a cloud: into which, of several' },
      cpus: { type: 'string', value: 'N', doc: 'of a cloud: what VMs made from it have' },
      memory: { type: 'string', value: 'SIZE', doc: 'of a cloud: the same, such as 1G' },
    },
    async run(world, { words: [source = ''], options, json }) {
      const name = options.default === true ? 'default' : (options.name ?? nameOf(source))
      if (options.default !== true) await requireFree(world, name)
      if (options.sha256 !== undefined) requireDigest(options.sha256)
      await using image = await fetchImage(world, source)
      const wanted = {
        ...{ name, file: image.file, sha256: options.sha256 },
        ...{ isDefault: options.default === true, catalog: options.catalog },
        ...{ cpus: wholeNumber('--cpus', options.cpus) },
        memoryMiB: sizeMiB('--memory', options.memory),
      }
      const how = { label: `importing ${name}`, wait: true, json }
      await doAndSay(world, how, (doing) => world.verbs.importTemplate(wanted, doing))
    },
  }),
  command({
    name: 'template rm',
    asks: 'vmd',
    instead: 'a template of a cloud stays; import the next one under another name',
    usage: 'TEMPLATE',
    summary: 'delete a template; VMs made from it keep their disks',
    examples: ['skerry template rm old'],
    next: 'skerry template list shows what is left',
    async run({ api, print }, { words: [name = ''], json }) {
      await api.ask('DELETE', path('templates', name))
      print(json ? JSON.stringify({ removed: name }, null, 2) : `template ${name} is deleted`)
    },
  }),
]

/** The last word of the address, made into a name that a template may have. */
export const nameOf = (source: string): string =>
  (source.split(/[?#]/)[0] ?? '')
    .replace(/^.*\//, '')
    .replace(/\.(qcow2|img|raw)$/, '')
    .replace(/%[0-9A-Fa-f]{2}|[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, NAME_MAX) || 'image'

/** A file of this machine as it is; what lies at an address is fetched into a file that goes away again. */
async function fetchImage(
  world: World,
  source: string,
): Promise<{ file: string } & AsyncDisposable> {
  if (!/^https?:\/\//.test(source)) {
    return { file: resolve(source), [Symbol.asyncDispose]: async () => undefined }
  }
  const scratch = await scratchDirectory()
  const file = join(scratch.path, 'image')
  const label = `fetching ${nameOf(source)}`
  try {
    await showProgress(world, label, async (tell) => download(source, file, label, tell))
  } catch (error) {
    await scratch[Symbol.asyncDispose]()
    throw error
  }
  return { file, [Symbol.asyncDispose]: scratch[Symbol.asyncDispose] }
}

/** What would be refused at the end is better known before minutes of fetching. */
async function requireFree({ verbs }: World, name: string): Promise<void> {
  if (!(await verbs.templates()).some((each) => each.name === name)) return
  throw new Failure('refused', `there is already a template ${name}`, {
    hint: verbs.otherTemplate(name),
  })
}

function requireDigest(text: string): void {
  if (/^[0-9A-Fa-f]{64}$/.test(text)) return
  throw new Failure('usage', `--sha256 must be 64 digits of 0-9 and a-f, not ${text}`, {
    hint: 'sha256sum FILE prints it, and so do most places that offer images',
  })
}
