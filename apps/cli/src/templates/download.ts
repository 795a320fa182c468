import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

import { mebibytes } from '@skerry/command-line'

import { Failure } from '../terminal/failure.ts'
import type { ReportProgress } from '../terminal/report-progress.ts'

const MIB = 1024 ** 2

/** Downloads a URL to a new file. */
export async function download(
  source: string,
  to: string,
  label: string,
  report: ReportProgress,
): Promise<void> {
  const response = await reach(source)
  // Content-Length would be that of a compressed response, so none is requested.
  const size = Number(response.headers.get('content-length') ?? 0)
  let count = 0
  await using file = await open(to, 'wx', 0o600)
  const chunks = response.body?.[Symbol.asyncIterator]()
  for (;;) {
    const next = await chunks?.next().catch((cause: unknown) => {
      throw new Failure('refused', `${source} broke off after ${mebibytes(count / MIB)}`, {
        cause,
        hint: 'nothing was imported; try again',
      })
    })
    if (next === undefined || next.done === true) return
    await file.writeFile(next.value).catch((cause: unknown) => {
      throw noRoom(to, cause)
    })
    count += next.value.length
    if (size > 0) report((count / size) * 100)
    else report(undefined, `${label}, ${mebibytes(count / MIB)} so far`)
  }
}

async function reach(source: string): Promise<Response> {
  const requested = fetch(source, { headers: { 'accept-encoding': 'identity' } })
  const response = await requested.catch((cause: unknown) => {
    throw new Failure('refused', `${source} cannot be reached`, {
      cause,
      hint: 'check the URL and the network of this machine, then try again',
    })
  })
  if (response.ok) return response
  await response.body?.cancel()
  throw new Failure('refused', `${source} answered ${response.status} ${response.statusText}`, {
    hint: 'check that the URL is that of an image; a browser shows what it returns',
  })
}

function noRoom(file: string, cause: unknown): unknown {
  if ((cause as NodeJS.ErrnoException).code !== 'ENOSPC') return cause
  const directory = dirname(dirname(file))
  return new Failure('refused', `no space left in ${directory} for the download`, {
    cause,
    hint: 'use a directory with more space: TMPDIR=/var/tmp skerry template import ...',
  })
}
