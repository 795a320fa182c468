import { open } from 'node:fs/promises'
import { dirname } from 'node:path'

import { Failure } from './failure.ts'
import type { Tell } from './progress.ts'
import { mebibytes } from './table.ts'

const MIB = 1024 ** 2

/** Fetches what lies at an http address into a file that is not there yet. */
export async function download(
  source: string,
  to: string,
  label: string,
  tell: Tell,
): Promise<void> {
  const response = await reach(source)
  // Told before a packed answer would be unpacked, so no packed answer is asked for.
  const size = Number(response.headers.get('content-length') ?? 0)
  let count = 0
  await using file = await open(to, 'wx', 0o600)
  const chunks = response.body?.[Symbol.asyncIterator]()
  for (;;) {
    const next = await chunks?.next().catch((cause: unknown) => {
      throw new Failure('refused', `${source} broke off after ${mebibytes(count / MIB)}`, {
        cause,
        hint: 'nothing was imported; ask again',
      })
    })
    if (next === undefined || next.done === true) return
    await file.writeFile(next.value).catch((cause: unknown) => {
      throw noRoom(to, cause)
    })
    count += next.value.length
    if (size > 0) tell((count / size) * 100)
    else tell(undefined, `${label}, ${mebibytes(count / MIB)} so far`)
  }
}

async function reach(source: string): Promise<Response> {
  const asked = fetch(source, { headers: { 'accept-encoding': 'identity' } })
  const response = await asked.catch((cause: unknown) => {
    throw new Failure('refused', `${source} cannot be reached`, {
      cause,
      hint: 'see that the address is right and this machine has a way there, then ask again',
    })
  })
  if (response.ok) return response
  await response.body?.cancel()
  throw new Failure('refused', `${source} answered ${response.status} ${response.statusText}`, {
    hint: 'see that the address is that of an image; a browser shows what is there',
  })
}

function noRoom(file: string, cause: unknown): unknown {
  if ((cause as NodeJS.ErrnoException).code !== 'ENOSPC') return cause
  const directory = dirname(dirname(file))
  return new Failure('refused', `there is no room in ${directory} for what is fetched`, {
    cause,
    hint: 'name a roomier directory: TMPDIR=/var/tmp skerry template import ...',
  })
}
