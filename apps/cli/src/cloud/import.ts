import { open } from 'node:fs/promises'

import { linkOf, linkTo, query, quoted, sendUpload } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'
import { element } from '@skerry/xml'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'
import type { ChangeOptions, CommandResult, WantedTemplate } from '../vms/vm-backend.ts'
import { kinds, oneNamed } from './named.ts'
import { onlyOne } from './only-candidate.ts'
import { templateOf } from './reading.ts'

/** Uploads an image to a catalog in parts; a failed upload leaves nothing behind. */
export async function importIntoCloud(
  side: CloudSession,
  wanted: WantedTemplate,
  { report }: ChangeOptions,
): Promise<CommandResult> {
  const { cloud, now, wait } = side
  await using file = await open(wanted.file).catch((cause: unknown) => {
    throw new Failure('refused', `${wanted.file} cannot be read`, { cause })
  })
  const { size } = await file.stat()
  const { name, sha256, cpus, memoryMiB } = wanted
  const catalog = await cloud.get(await catalogFor(side, wanted.catalog))
  const body = element('UploadParams', {
    name,
    size,
    sha256,
    numberOfCpus: cpus,
    memoryMB: memoryMiB,
  })
  const announced = await cloud.act('POST', linkTo(catalog, 'add', 'uploadParams'), { body })
  if (!announced) throw new Failure('refused', 'the cloud returned no upload address')
  const read = async (from: number, most: number): Promise<Uint8Array> => {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(most), 0, most, from)
    return buffer.subarray(0, bytesRead)
  }
  try {
    await sendUpload(cloud, announced, read, { now, pause: wait, progress: (done) => report(done) })
  } catch (error) {
    const gone = linkOf(announced, 'remove')
    // The cloud deletes abandoned uploads within a day.
    if (gone !== undefined && error instanceof Fault) {
      await cloud.act('DELETE', gone).catch(() => undefined)
    }
    throw error
  }
  const requested = { type: kinds.template.type, filter: `name==${quoted(name)}` }
  const [found] = await Array.fromAsync(query(cloud, requested))
  return { text: `template ${name} is ready`, body: found && templateOf(found) }
}

async function catalogFor(side: CloudSession, name: string | undefined): Promise<string> {
  if (name !== undefined) return (await oneNamed(side, kinds.catalog, name)).href
  return onlyOne(side, kinds.catalog, {
    none: 'there is no catalog for the template',
    noneHint:
      'an administrator creates one: sudo skerry admin template import, on the machine of a cell',
    several: 'there are several catalogs',
    option: '--catalog',
  })
}
