// Sends a file in parts. XMLHttpRequest, because fetch does not report the progress of a request body.
import { ACCEPT, ApiError, pathOf, request, requestEvents, watchSession } from './client.ts'
import type { UploadDocument } from './documents.ts'

export const PART_BYTES = 16 * 1024 ** 2
const TRIES = 3

export interface Part {
  readonly start: number
  /** Exclusive. */
  readonly end: number
}

/** The next part of a file of which `sent` bytes are at the server. */
export const nextPart = (sent: number, size: number): Part => ({
  start: sent,
  end: Math.min(size, sent + PART_BYTES),
})

export const contentRange = ({ start, end }: Part, size: number): string =>
  `bytes ${start}-${end - 1}/${size}`

export interface TransferOptions {
  readonly href: string
  readonly file: Blob
  readonly signal: AbortSignal
  readonly onProgress: (bytes: number) => void
}

/** Sends what the server does not have yet. The server checks the image after the last byte. */
export async function transferFile(options: TransferOptions): Promise<void> {
  const { href, file, signal, onProgress } = options
  let { bytesTransferred: sent } = (await request<UploadDocument>(href, { signal })).file
  while (sent < file.size) {
    const part = nextPart(sent, file.size)
    await sendWithRetries(options, part)
    sent = part.end
    onProgress(sent)
  }
}

async function sendWithRetries(options: TransferOptions, part: Part): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await sendPart(options, part)
      return
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 0
      const isFinal = status >= 400 && status < 500 && status !== 429
      if (options.signal.aborted || isFinal || attempt === TRIES) throw error
      await new Promise((resolve) => setTimeout(resolve, 1000 * attempt))
    }
  }
}

const sendPart = ({ href, file, signal, onProgress }: TransferOptions, part: Part): Promise<void> =>
  new Promise((resolve, reject) => {
    const isSameSession = watchSession()
    const xhr = new XMLHttpRequest()
    xhr.open('PUT', pathOf(href))
    xhr.setRequestHeader('accept', ACCEPT)
    xhr.setRequestHeader('content-type', 'application/octet-stream')
    xhr.setRequestHeader('content-range', contentRange(part, file.size))
    xhr.upload.addEventListener('progress', ({ loaded }) => onProgress(part.start + loaded))
    xhr.addEventListener('load', () => {
      if (xhr.status >= 200 && xhr.status < 300) return resolve()
      if (xhr.status === 401 && isSameSession()) requestEvents.onUnauthenticated()
      reject(errorOf(xhr))
    })
    xhr.addEventListener('error', () =>
      reject(new ApiError(0, 'UNREACHABLE', 'the connection broke; the upload can be resumed')),
    )
    xhr.addEventListener('abort', () => reject(new ApiError(0, 'CANCELED', 'canceled')))
    signal.addEventListener('abort', () => xhr.abort())
    xhr.send(file.slice(part.start, part.end))
  })

function errorOf(xhr: XMLHttpRequest): ApiError {
  try {
    const { message, minorErrorCode } = JSON.parse(xhr.responseText) as Record<string, string>
    return new ApiError(xhr.status, minorErrorCode ?? '', message ?? xhr.statusText)
  } catch {
    return new ApiError(xhr.status, String(xhr.status), `the server answered ${xhr.status}`)
  }
}
