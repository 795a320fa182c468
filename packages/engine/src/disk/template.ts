import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import {
  chmod,
  constants,
  copyFile,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { syncDirectory, writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { checkImage } from '@skerry/image'
import { whyNotId, type Template } from '@skerry/vm'

import { every } from '../every.ts'
import type { Host } from '../host/host.ts'
import { templatesDirectory } from '../host/paths.ts'
import { PRIVATE_FILE } from '../host/private-files.ts'
import { runTool } from '../host/tool.ts'

/** Limits for a tool that reads an untrusted file. */
const LIMITS = { cpuSeconds: 300, memoryBytes: 2 * 1024 ** 3 }
const CONVERT_TIMEOUT_MS = 3_600_000

export const imageFile = (host: Host, name: string): string =>
  join(templatesDirectory(host.paths), `${name}.qcow2`)
const factsFile = (host: Host, name: string): string =>
  join(templatesDirectory(host.paths), `${name}.json`)

export interface ImportOptions {
  /** The expected checksum of the file, in hexadecimal; a file with another one is rejected. */
  readonly sha256?: string
  /** Replace the template with this name, if there is one. */
  readonly replace?: boolean
  /** The caller: root may name any file, other users only their own. */
  readonly uid?: number
  /** Receives the progress, from 0 to 100. */
  readonly progress?: (percent: number) => void
}

/** The progress at the end of each phase, in percent: each phase reads the whole file once. */
const COPIED = 40
const CHECKED = 60
const CONVERTED = 80
const LOOK_AGAIN_MS = 100

/**
 * Imports a disk image as a template. It is copied first and checked afterwards, so that the bytes
 * that were checked are those that are used; no tool opens it before its header was found harmless.
 */
export function importTemplate(
  host: Host,
  name: string,
  file: string,
  { sha256, replace = false, uid = 0, progress = () => undefined }: ImportOptions = {},
): Promise<Template> {
  const why = whyNotId(name)
  if (why !== undefined)
    return Promise.reject(new Fault('invalid', why.replace('an id', 'a template’s name')))
  return host.locks.run(`template ${name}`, async () => {
    if (!replace) await requireFree(host, name)
    await using opened = await openOwn(file, uid)
    using _ = await host.room.hold(
      host.paths.data,
      2 * (await opened.stat()).size,
      `importing ${file}`,
    )
    const copy = `${imageFile(host, name)}.tmp`
    const converted = `${imageFile(host, name)}.qcow2.tmp`
    const facts = `${factsFile(host, name)}.next`
    try {
      // By the open file descriptor: the name may mean another file by now.
      {
        const { size } = await opened.stat()
        using _ = watchSize(copy, (bytes) => progress((bytes / size) * COPIED))
        await copyFile(`/proc/self/fd/${opened.fd}`, copy)
      }
      progress(COPIED)
      if (sha256 !== undefined) await requireDigest(copy, sha256)
      progress(CHECKED)
      // The copy has the mode of its source. VMs link to it, and the link is in directories that every user can
      // traverse.
      await chmod(copy, PRIVATE_FILE)
      const { format, virtualBytes } = await checkImage(copy)
      const ready = format === 'qcow2' ? copy : converted
      if (ready === converted) {
        const words = ['convert', '-q', '-f', 'raw', '-O', 'qcow2', copy, converted]
        await runTool('qemu-img', words, { limits: LIMITS, timeoutMs: CONVERT_TIMEOUT_MS })
        await chmod(converted, PRIVATE_FILE)
        await rm(copy)
      }
      progress(CONVERTED)
      const template = await describe(name, ready, virtualBytes)
      // The old template stays until the new one is in place. A crash between the two renames can be detected: the facts
      // are still pending and the image is not (clear-unfinished.ts).
      await writeDurably(facts, `${JSON.stringify(template, null, 2)}\n`)
      await rename(ready, imageFile(host, name))
      await rename(facts, factsFile(host, name))
      await syncDirectory(templatesDirectory(host.paths))
      return template
    } finally {
      // The facts first: without a pending image they would be taken for those of the image in place.
      for (const left of [facts, copy, converted]) await rm(left, { force: true })
    }
  })
}

/** The kernel reports no progress of a copy; the size of its file shows it. */
function watchSize(file: string, emit: (bytes: number) => void): Disposable {
  const look = async () => emit((await stat(file)).size)
  const ended = new AbortController()
  // Before the copy begins there is no file.
  every(LOOK_AGAIN_MS, ended.signal, look, () => undefined)
  return { [Symbol.dispose]: () => ended.abort() }
}

async function requireFree(host: Host, name: string): Promise<void> {
  if (!(await listTemplates(host)).some((template) => template.name === name)) return
  throw new Fault('conflict', `template ${name} already exists`, {
    hint: 'delete it first, or choose another name; VMs created from it keep their disks',
  })
}

/** The same error for a missing file and for another user's file: other users' files are not revealed. */
async function openOwn(file: string, uid: number): Promise<FileHandle> {
  const whose = uid === 0 ? '' : ' owned by you'
  // Without O_NONBLOCK, opening a pipe would block.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  const refusal = (cause?: unknown) => new Fault('invalid', `no file ${file}${whose}`, { cause })
  const handle = await open(file, flags).catch((cause: unknown) => {
    throw refusal(cause)
  })
  const found = await handle.stat()
  if (found.isFile() && (uid === 0 || found.uid === uid)) return handle
  await handle.close()
  throw refusal()
}

async function requireDigest(file: string, sha256: string): Promise<void> {
  const found = await digestOf(file)
  if (found === sha256.toLowerCase()) return
  throw new Fault('image-refused', `the file’s SHA-256 is ${found}, not ${sha256.toLowerCase()}`, {
    hint: 'download the file again, or give the right checksum',
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
  throw new Fault('unavailable', `template ${name} not found on this host`, {
    hint: `create one: skerry template build, or skerry template import FILE --name ${name}`,
  })
}

/** VMs based on it keep their own link to its image. */
export function deleteTemplate(host: Host, name: string): Promise<void> {
  return host.locks.run(`template ${name}`, async () => {
    if (!(await listTemplates(host)).some((template) => template.name === name)) {
      throw new Fault('not-found', `template ${name} not found`)
    }
    await discard(host, name)
  })
}

async function discard(host: Host, name: string): Promise<void> {
  for (const file of [imageFile(host, name), factsFile(host, name)]) await rm(file, { force: true })
  await syncDirectory(templatesDirectory(host.paths))
}

async function describe(name: string, file: string, virtualBytes: number): Promise<Template> {
  const digest = await digestOf(file)
  await using handle = await open(file, 'r')
  await handle.sync()
  const { size } = await handle.stat()
  return { name, digest, virtualBytes, fileBytes: size }
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
