import { open } from 'node:fs/promises'

import { linkOf, linkTo, query, quoted, sendUpload } from '@skerry/cloud-client'
import { Fault } from '@skerry/fault'
import { element } from '@skerry/xml'

import { kinds, oneNamed } from './cloud-named.ts'
import { onlyOne } from './cloud-only.ts'
import { templateOf } from './cloud-reading.ts'
import type { CloudSide } from './cloud-side.ts'
import { Failure } from './failure.ts'
import type { Doing, Told, WantedTemplate } from './verbs.ts'

/** Sends an image into a catalog, part by part; one that is refused leaves nothing behind. */
export async function importIntoCloud(
  side: CloudSide,
  wanted: WantedTemplate,
  { tell }: Doing,
): Promise<Told> {
  const { cloud, now, wait } = side
  await using file = await open(wanted.file).catch((cause: unknown) => {
    throw new Failure('refused', `${wanted.file} cannot be read`, { cause })
  })
  const { size } = await file.stat()
  const { name, sha256, cpus, memoryMiB } = wanted
  const catalog = await cloud.get(await catalogFor(side, wanted.catalog))
  const body = element('UploadParams', {
    ...{ name, size, sha256, numberOfCpus: cpus, memoryMB: memoryMiB },
  })
  const announced = await cloud.act('POST', linkTo(catalog, 'add', 'uploadParams'), { body })
  if (!announced) throw new Failure('refused', 'the cloud did not say where to send the image')
  const read = async (from: number, most: number): Promise<Uint8Array> => {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(most), 0, most, from)
    return buffer.subarray(0, bytesRead)
  }
  try {
    await sendUpload(cloud, announced, read, { now, pause: wait, progress: (done) => tell(done) })
  } catch (error) {
    const gone = linkOf(announced, 'remove')
    // Of what nobody takes back the cloud rids itself within a day.
    if (gone !== undefined && error instanceof Fault) {
      await cloud.act('DELETE', gone).catch(() => undefined)
    }
    throw error
  }
  const asked = { type: kinds.template.type, filter: `name==${quoted(name)}` }
  const [found] = await Array.fromAsync(query(cloud, asked))
  return { text: `template ${name} is there`, body: found && templateOf(found) }
}

async function catalogFor(side: CloudSide, name: string | undefined): Promise<string> {
  if (name !== undefined) return (await oneNamed(side, kinds.catalog, name)).href
  return onlyOne(side, kinds.catalog, {
    none: 'there is no catalog to put it into',
    noneHint:
      'an administrator makes one: sudo skerry cloud template add, on the machine of a cell',
    several: 'there are several catalogs',
    option: '--catalog',
  })
}
