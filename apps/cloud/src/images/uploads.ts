import { createHash } from 'node:crypto'
import { link, open, readdir, rm, statfs, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { syncDirectory } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { checkImage } from '@skerry/image'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { StoredImage } from './add-image.ts'
import {
  beginSending,
  dropUpload,
  endSending,
  makeTemplate,
  recordReceived,
  type UploadRow,
} from './upload-rows.ts'

/** After this many bytes the received data is synced to disk; an interrupted sender continues from there. */
const SYNC_BYTES = 32 * 1024 * 1024
/** Any disk reads this much within the timeout of a sender. */
const BEAT_BYTES = 256 * 1024 * 1024
const PART = /^upload-(.+)\.part$/

/** Bytes of a sender: their offset, and how many are expected. */
export interface UploadPart {
  readonly from: number
  readonly length: number
  readonly bytes: AsyncIterable<Buffer>
}

/** Stores uploads until they become templates. */
export interface Uploads {
  /** Stores what is sent. Returns the catalog item once all bytes are received, otherwise only how many are. */
  take(
    row: UploadRow,
    sent: UploadPart,
  ): Promise<{ readonly item?: string; readonly received: number }>
  drop(row: UploadRow): Promise<void>
  /** Rejects an image that the store has no room for now. */
  requireRoom(bytes: number): Promise<void>
  /** Deletes files that no longer belong to an upload. */
  clear(): Promise<void>
}

export function openUploads(db: Kysely<CloudTables>, store: string): Uploads {
  const fileOf = ({ id }: Pick<UploadRow, 'id'>) => join(store, `upload-${id}.part`)
  const drop = async (row: UploadRow): Promise<void> => {
    await dropUpload(db, row)
    await rm(fileOf(row), { force: true })
  }
  return {
    drop,
    async requireRoom(bytes) {
      const { bavail, bsize } = await statfs(store)
      if (bytes <= bavail * bsize) return
      throw full(`the image store has no room for ${bytes} bytes`)
    },
    async take(row, sent) {
      const there = await beginSending(db, row)
      try {
        if (sent.from !== there) throw goOnAt(there)
        const received = await write(db, row, fileOf(row), sent)
        if (received < Number(row.bytes)) return { received }
        return { received, item: await finish(db, row, { file: fileOf(row), store, drop }) }
      } catch (error) {
        throw asFault(error)
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

const full = (message: string, cause?: unknown): Fault =>
  new Fault('no-room', message, {
    hint: 'ask an administrator to free space in the image store, then send again',
    cause,
  })

/** Translates file system errors of the store into faults; other errors stay as they are. */
function asFault(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') {
    return new Fault('not-found', 'the upload was deleted meanwhile', { cause: error })
  }
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? full('the image store is full; what was received so far is kept', error)
    : error
}

const goOnAt = (there: number): Fault =>
  new Fault('conflict', `${there} bytes were received: sending must continue there`, {
    hint: `send from byte ${there} on, using Content-Range`,
  })

/** Bytes that were received after the last sync are sent again if a sender dies. */
async function write(
  db: Kysely<CloudTables>,
  row: UploadRow,
  path: string,
  { from, length, bytes }: UploadPart,
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
        throw new Fault('invalid', 'received more bytes than announced')
      }
      await writeAll(file, chunk, at)
      at += chunk.length
      if (at - synced >= SYNC_BYTES) await sync()
    }
  } finally {
    if (at > synced) await sync()
  }
  if (at < from + length) throw new Fault('invalid', 'received fewer bytes than announced')
  return at
}

/** A sender that disconnects is not an internal error. */
async function* untilBroken(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  try {
    yield* bytes
  } catch (cause) {
    if (cause instanceof Fault) throw cause
    throw new Fault('invalid', 'the sender disconnected', { cause })
  }
}

async function writeAll(file: FileHandle, chunk: Buffer, at: number): Promise<void> {
  for (let done = 0; done < chunk.length;) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, at + done)
    done += bytesWritten
  }
}

/** All bytes are received: checks the image against its announcement and the rules for images, then makes it a template. */
async function finish(
  db: Kysely<CloudTables>,
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
    // Hashing takes a while; the heartbeat keeps other senders out meanwhile.
    const digest = await digestOf(file, () => recordReceived(db, row, Number(row.bytes)))
    if (row.sha256 !== null && row.sha256 !== digest) {
      throw new Fault(
        'invalid',
        `the SHA-256 of the image is ${digest}, not ${row.sha256} as announced`,
      )
    }
    const { virtualBytes, fileBytes } = await checkImage(file, { expect: 'qcow2' })
    image = { digest, bytes: fileBytes, virtualBytes }
  } catch (error) {
    // A complete but invalid image cannot be fixed by sending more bytes.
    if (error instanceof Fault) await drop(row)
    throw error
  }
  // A hard link, so that a crash before the rows are written leaves the partial file in place.
  await link(file, join(store, image.digest)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await syncDirectory(store)
  const item = await makeTemplate(db, row, image)
  await rm(file, { force: true })
  return item
}

async function digestOf(path: string, beat: () => Promise<void>): Promise<string> {
  await using file = await open(path, 'r')
  const hash = createHash('sha256')
  let [read, reported] = [0, 0]
  for await (const chunk of file.createReadStream({ autoClose: false })) {
    hash.update(chunk as Buffer)
    read += (chunk as Buffer).length
    if (read - reported < BEAT_BYTES) continue
    reported = read
    await beat()
  }
  return hash.digest('hex')
}
