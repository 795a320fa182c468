// An empty PostgreSQL data directory. initdb takes more than a second of a core, so its result is cached and copied.
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { cacheDirectory } from '../system/cache-directory.ts'
import { run } from '../system/run.ts'

export interface EmptyData {
  /** The directory to fill. */
  readonly data: string
  /** initdb and its arguments, including the directory. */
  readonly command: readonly string[]
  /** Runs a program as the user of the server. */
  readonly asServer: (command: readonly string[]) => Promise<void>
  /** Where a copying process belongs, such as a network in which it is found and killed. */
  readonly inside: (command: readonly string[]) => readonly string[]
}

/** Fills a directory as initdb does. Safe for concurrent programs: a cached directory appears completely or not at all. */
export async function fillData({ data, command, asServer, inside }: EmptyData): Promise<void> {
  const kept = await placeOf(data, command)
  const copy = (from: string, to: string) =>
    run(inside(['cp', '-a', '--reflink=auto', '-T', from, to]))
  if (existsSync(kept)) {
    await copy(kept, data)
    return
  }
  await asServer(command)
  await mkdir(dirname(kept), { recursive: true })
  const unfinished = `${kept}.unfinished-${randomUUID()}`
  await copy(data, unfinished)
  // Another program may have cached an identical one meanwhile.
  await rename(unfinished, kept).catch(() => rm(unfinished, { recursive: true, force: true }))
}

/** Another program, other arguments or another owner need another directory. */
async function placeOf(data: string, command: readonly string[]): Promise<string> {
  const [program = ''] = command
  const { size, mtimeMs } = await stat(program)
  const owner = await stat(data).catch(() => undefined)
  const words = command.filter((word) => word !== data)
  const made = JSON.stringify([...words, size, mtimeMs, owner?.uid ?? process.getuid?.()])
  const hash = createHash('sha256').update(made).digest('hex').slice(0, 16)
  return join(cacheDirectory(), `postgres-${hash}`)
}
