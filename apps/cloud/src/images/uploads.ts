import { createHash } from 'node:crypto'
import { link, open, readdir, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { checkImage } from '@skerry/image'
import type { Kysely } from 'kysely'

import type { Database } from '../store/database.ts'
import {
  beginSending,
  dropUpload,
  endSending,
  makeTemplate,
  recordReceived,
  type UploadRow,
} from '../store/uploads.ts'
import type { StoredImage } from './add-image.ts'

/** After so many bytes what came is made to outlast a power cut, and a sender that breaks off goes on from there. */
const SYNC_BYTES = 32 * 1024 * 1024
/** Read by any disk within the time that a sender is waited for. */
const BEAT_BYTES = 256 * 1024 * 1024
const PART = /^upload-(.+)\.part$/

/** Bytes that somebody sends: where they begin, and how many there shall be. */
export interface Sent {
  readonly from: number
  readonly length: number
  readonly bytes: AsyncIterable<Buffer>
}

/** Where uploads lie until they are templates. */
export interface Uploads {
  /** Takes what is sent. Answers with the catalog's item once all of it is there, else with how much is. */
  take(row: UploadRow, sent: Sent): Promise<{ readonly item?: string; readonly received: number }>
  drop(row: UploadRow): Promise<void>
  /** Takes away what no upload stands for any more. */
  clear(): Promise<void>
}

export function openUploads(db: Kysely<Database>, store: string): Uploads {
  const fileOf = ({ id }: Pick<UploadRow, 'id'>) => join(store, `upload-${id}.part`)
  const drop = async (row: UploadRow): Promise<void> => {
    await dropUpload(db, row)
    await rm(fileOf(row), { force: true })
  }
  return {
    drop,
    async take(row, sent) {
      const there = await beginSending(db, row)
      try {
        if (sent.from !== there) throw goOnAt(there)
        const received = await write(db, row, fileOf(row), sent)
        if (received < Number(row.bytes)) return { received }
        return { received, item: await finish(db, row, { file: fileOf(row), store, drop }) }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        throw new Fault('not-found', 'this upload was taken back meanwhile', { cause: error })
      } finally {
        await endSending(db, row)
      }
    },
    async clear() {
      for (const name of await readdir(store)) {
        const id = PART.exec(name)?.[1]
        if (id === undefined) continue
        const row = await db
          .selectFrom('upload')
          .select('id')
          .where('id', '=', id)
          .executeTakeFirst()
        if (!row) await rm(join(store, name), { force: true })
      }
    },
  }
}

const goOnAt = (there: number): Fault =>
  new Fault('conflict', `${there} bytes are here: what is sent must begin there`, {
    hint: `send from byte ${there} on, with Content-Range`,
  })

/** What a sender that died had sent since it was last written down is sent again. */
async function write(
  db: Kysely<Database>,
  row: UploadRow,
  path: string,
  { from, length, bytes }: Sent,
): Promise<number> {
  await using file = await open(path, 'a+', 0o600).then(async (handle) => {
    await handle.close()
    return open(path, 'r+')
  })
  await file.truncate(from)
  let [at, synced] = [from, from]
  const sync = async () => {
    await file.sync()
    await recordReceived(db, row, at)
    synced = at
  }
  try {
    for await (const chunk of untilBroken(bytes)) {
      if (at + chunk.length > from + length) {
        throw new Fault('invalid', 'more bytes came than were told')
      }
      await writeAll(file, chunk, at)
      at += chunk.length
      if (at - synced >= SYNC_BYTES) await sync()
    }
  } finally {
    if (at > synced) await sync()
  }
  if (at < from + length) throw new Fault('invalid', 'fewer bytes came than were told')
  return at
}

/** That a sender goes away is no mistake of ours. */
async function* untilBroken(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    yield* bytes
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('invalid', 'the sender broke off', { cause })
  }
}

async function writeAll(file: FileHandle, chunk: Buffer, at: number): Promise<void> {
  for (let done = 0; done < chunk.length;) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, at + done)
    done += bytesWritten
  }
}

/** All of it is here: held to what was told of it and to what an image may be, then it is a template. */
async function finish(
  db: Kysely<Database>,
  row: UploadRow,
  {
    file,
    store,
    drop,
  }: {
    readonly file: string
    readonly store: string
    readonly drop: (row: UploadRow) => Promise<void>
  },
): Promise<string> {
  let image: StoredImage
  try {
    // It takes a while, and nobody else is to come in between.
    const digest = await digestOf(file, () => recordReceived(db, row, Number(row.bytes)))
    if (row.sha256 !== null && row.sha256 !== digest) {
      throw new Fault('invalid', `its SHA-256 is ${digest}, and was told to be ${row.sha256}`)
    }
    const { virtualBytes, fileBytes } = await checkImage(file, { expect: 'qcow2' })
    image = { digest, bytes: fileBytes, virtualBytes }
  } catch (error) {
    // What is wrong as a whole is not mended by sending more of it.
    if (error instanceof Fault) await drop(row)
    throw error
  }
  // A link, so that a crash before the rows are written leaves the part where it is.
  await link(file, join(store, image.digest)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await using directory = await open(store, 'r')
  await directory.sync()
  const item = await makeTemplate(db, row, image)
  await rm(file, { force: true })
  return item
}

async function digestOf(path: string, beat: () => Promise<void>): Promise<string> {
  await using file = await open(path, 'r')
  const hash = createHash('sha256')
  let [read, told] = [0, 0]
  for await (const chunk of file.createReadStream({ autoClose: false })) {
    hash.update(chunk as Buffer)
    read += (chunk as Buffer).length
    if (read - told < BEAT_BYTES) continue
    told = read
    await beat()
  }
  return hash.digest('hex')
}
