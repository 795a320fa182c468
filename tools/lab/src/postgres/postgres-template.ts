// A PostgreSQL data directory, empty or prepared. initdb takes more than a second of a core and migrations half of one, so their results
// are cached and copied.
import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { cacheDirectory } from '../system/cache-directory.ts'
import { run } from '../system/run.ts'

export interface NewData {
  /** The directory to fill. */
  readonly data: string
  /** initdb and its arguments, including the directory. */
  readonly command: readonly string[]
  /** Runs a program as the user of the server. */
  readonly asServer: (command: readonly string[]) => Promise<void>
  /** Where a copying process belongs, such as a network in which it is found and killed. */
  readonly inside: (command: readonly string[]) => readonly string[]
  /** What is done to it before it is cached. */
  readonly preparation?: Preparation | undefined
}

export interface Preparation {
  /** Directories of files that define the result, such as migrations. */
  readonly from: readonly string[]
  /** Returns when no program uses the directory any more. */
  readonly run: () => Promise<void>
}

/** Fills a directory as initdb does. Safe for concurrent programs: a cached directory appears completely or not at all. */
export async function fillData(given: NewData): Promise<void> {
  const { data, command, asServer, inside, preparation } = given
  const kept = await placeOf(data, command, preparation?.from ?? [])
  const copy = (from: string, to: string) =>
    run(inside(['cp', '-a', '--reflink=auto', '-T', from, to]))
  if (existsSync(kept)) {
    await copy(kept, data)
    return
  }
  if (preparation === undefined) {
    await asServer(command)
  } else {
    await fillData({ ...given, preparation: undefined })
    await preparation.run()
  }
  await mkdir(dirname(kept), { recursive: true })
  const unfinished = `${kept}.unfinished-${randomUUID()}`
  await copy(data, unfinished)
  // Another program may have cached an identical one meanwhile.
  await rename(unfinished, kept).catch(() => rm(unfinished, { recursive: true, force: true }))
}

/** Another program, other arguments, other files or another owner need another directory. */
async function placeOf(
  data: string,
  command: readonly string[],
  from: readonly string[],
): Promise<string> {
  const [program = ''] = command
  const { size, mtimeMs } = await stat(program)
  const owner = await stat(data).catch(() => undefined)
  const words = command.filter((word) => word !== data)
  const files = await Promise.all(from.map(filesIn))
  const made = JSON.stringify([...words, size, mtimeMs, owner?.uid ?? process.getuid?.(), files])
  const hash = createHash('sha256').update(made).digest('hex').slice(0, 16)
  return join(cacheDirectory(), `postgres-${hash}`)
}

async function filesIn(directory: string): Promise<readonly (readonly [string, string])[]> {
  const names = (await readdir(directory)).sort()
  return Promise.all(
    names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')] as const),
  )
}
