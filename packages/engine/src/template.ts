import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { checkImage } from '@skerry/image'
import { whyNotId, type Template } from '@skerry/vm'

import type { Host } from './host.ts'
import { templatesDirectory } from './paths.ts'
import { syncDirectory, writeDurably } from './record.ts'
import { requireRoom } from './space.ts'
import { runTool } from './tool.ts'

/** What a tool may cost that reads a stranger's file. */
const LIMITS = { cpuSeconds: 300, memoryBytes: 2 * 1024 ** 3 }
const CONVERT_TIMEOUT_MS = 3_600_000

export const imageFile = (host: Host, name: string): string =>
  join(templatesDirectory(host.paths), `${name}.qcow2`)
const factsFile = (host: Host, name: string): string =>
  join(templatesDirectory(host.paths), `${name}.json`)

/**
 * Takes a disk image over as a template. It is copied first and judged afterwards, so that what
 * is judged is what is used; no tool opens it before its header was found to be harmless.
 */
export function importTemplate(host: Host, name: string, file: string): Promise<Template> {
  const why = whyNotId(name)
  if (why !== undefined)
    return Promise.reject(new Fault('invalid', why.replace('an id', 'a template’s name')))
  return host.turns.take(`template ${name}`, async () => {
    if ((await listTemplates(host)).some((template) => template.name === name)) {
      throw new Fault('conflict', `there is already a template ${name}`, {
        hint: 'delete it first, or choose another name; VMs made from it keep their disks',
      })
    }
    const { size } = await stat(file).catch((cause: unknown) => {
      throw new Fault('invalid', `there is no file ${file}`, { cause })
    })
    await requireRoom(host.paths.data, 2 * size, `importing ${file}`)
    const copy = `${imageFile(host, name)}.tmp`
    const converted = `${imageFile(host, name)}.qcow2.tmp`
    try {
      await copyFile(file, copy)
      const { format, virtualBytes } = await checkImage(copy)
      const ready = format === 'qcow2' ? copy : converted
      if (ready === converted) {
        const words = ['convert', '-q', '-f', 'raw', '-O', 'qcow2', copy, converted]
        await runTool('qemu-img', words, { limits: LIMITS, timeoutMs: CONVERT_TIMEOUT_MS })
      }
      const template = await describe(name, ready, virtualBytes)
      await writeDurably(factsFile(host, name), `${JSON.stringify(template, null, 2)}\n`)
      await rename(ready, imageFile(host, name))
      await syncDirectory(templatesDirectory(host.paths))
      return template
    } finally {
      for (const left of [copy, converted]) await rm(left, { force: true })
    }
  })
}

export async function listTemplates(host: Host): Promise<Template[]> {
  const directory = templatesDirectory(host.paths)
  const names = (await readdir(directory)).filter((name) => name.endsWith('.qcow2')).sort()
  return Promise.all(
    names.map(async (name) => {
      const facts = join(directory, name.replace(/\.qcow2$/, '.json'))
      return JSON.parse(await readFile(facts, 'utf8')) as Template
    }),
  )
}

export async function findTemplate(host: Host, name: string): Promise<Template> {
  const template = (await listTemplates(host)).find((each) => each.name === name)
  if (template) return template
  throw new Fault('unavailable', `there is no template ${name} on this host`, {
    hint: `make one: skerry template build, or skerry template import FILE --name ${name}`,
  })
}

/** VMs that stand on it keep their own link to its image. */
export function deleteTemplate(host: Host, name: string): Promise<void> {
  return host.turns.take(`template ${name}`, async () => {
    if (!(await listTemplates(host)).some((template) => template.name === name)) {
      throw new Fault('not-found', `there is no template ${name}`)
    }
    for (const file of [imageFile(host, name), factsFile(host, name)])
      await rm(file, { force: true })
    await syncDirectory(templatesDirectory(host.paths))
  })
}

async function describe(name: string, file: string, virtualBytes: number): Promise<Template> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  await using handle = await open(file, 'r')
  await handle.sync()
  const { size } = await handle.stat()
  return { name, digest: hash.digest('hex'), virtualBytes, fileBytes: size }
}
