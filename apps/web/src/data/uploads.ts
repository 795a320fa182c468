// Uploads of this browser. They go on while pages change; after a reload the user chooses the same file to continue.
import { explain, request } from '../api/client.ts'
import type { UploadDocument } from '../api/documents.ts'
import { transferFile } from '../api/transfer.ts'
import { notify, notifyError } from './notifications.ts'
import { queryClient } from './query-client.ts'
import { createStore } from './store.ts'

export interface StoredUpload {
  readonly href: string
  readonly name: string
  readonly size: number
  readonly lastModified: number
}

export interface Upload extends StoredUpload {
  readonly sent: number
  /** 'paused': this page has no file for it, as after a reload. */
  readonly state: 'sending' | 'paused' | 'failed'
  readonly error?: string
}

const STORED = 'skerry.uploads'
const readStored = (): readonly StoredUpload[] =>
  JSON.parse(localStorage.getItem(STORED) ?? '[]') as StoredUpload[]

export const uploads = createStore<readonly Upload[]>(
  readStored().map((each) => ({ ...each, sent: 0, state: 'paused' })),
)
const controllers = new Map<string, AbortController>()

function setUploads(next: readonly Upload[]): void {
  uploads.set(next)
  const stored = next.map(({ href, name, size, lastModified }) => ({
    href,
    name,
    size,
    lastModified,
  }))
  localStorage.setItem(STORED, JSON.stringify(stored))
}

const change = (href: string, part: Partial<Upload>): void =>
  uploads.set(uploads.get().map((each) => (each.href === href ? { ...each, ...part } : each)))

const remove = (href: string): void =>
  setUploads(uploads.get().filter((each) => each.href !== href))

export interface UploadRequest {
  readonly file: File
  readonly name: string
  readonly cpus: number
  readonly memoryMiB: number
}

/** Announces the upload at the catalog and begins to send. */
export async function startUpload(addHref: string, upload: UploadRequest): Promise<void> {
  const { file, name, cpus, memoryMiB } = upload
  const { href } = await request<UploadDocument>(addHref, {
    method: 'POST',
    body: { name, size: file.size, numberOfCpus: cpus, memoryMB: memoryMiB },
  })
  const { size, lastModified } = file
  setUploads([...uploads.get(), { href, name, size, lastModified, sent: 0, state: 'sending' }])
  void sendFile(href, name, file)
}

export const isSameFile = (upload: StoredUpload, file: File): boolean =>
  upload.size === file.size && upload.lastModified === file.lastModified

export function resumeUpload(upload: Upload, file: File): void {
  if (isSameFile(upload, file)) return void sendFile(upload.href, upload.name, file)
  notify({
    tone: 'error',
    title: `${file.name} is not the file of ${upload.name}`,
    description: 'Choose the file that the upload began with; its size and date must be the same.',
  })
}

async function sendFile(href: string, name: string, file: File): Promise<void> {
  const controller = new AbortController()
  controllers.set(href, controller)
  change(href, { state: 'sending' })
  try {
    await transferFile({
      href,
      file,
      signal: controller.signal,
      onProgress: (sent) => change(href, { sent }),
    })
    remove(href)
    notify({ tone: 'success', title: `Uploaded ${name}`, description: 'The template is ready.' })
    await queryClient.invalidateQueries({ queryKey: ['records', 'vAppTemplate'] })
  } catch (error) {
    if (controller.signal.aborted) return
    change(href, { state: 'failed', error: explain(error) })
    notifyError(`The upload of ${name} stopped`, error)
  } finally {
    controllers.delete(href)
  }
}

/** Ends an upload and deletes what was sent of it. */
export async function cancelUpload({ href, name }: Upload): Promise<void> {
  controllers.get(href)?.abort()
  remove(href)
  await request(href, { method: 'DELETE' }).catch((error: unknown) =>
    notifyError(`The upload of ${name} was not deleted`, error),
  )
}

addEventListener('beforeunload', (event) => {
  if (uploads.get().some(({ state }) => state === 'sending')) event.preventDefault()
})
