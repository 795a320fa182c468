// The Temporal server in the package: its two programs as `npm run setup:temporal` builds them, and the licences of the Go modules in them.
// The tables' SQL is part of temporal-sql-tool.
import { existsSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { packagedTemporal, temporalFiles, temporalVersion } from '@skerry/site'

import { cacheDirectory } from '../lab/src/system/cache-directory.ts'
import { run } from '../lab/src/system/run.ts'

const LICENSE_FILE = /^(licen[cs]e|copying|copyright|notice|patents)([-._].*)?$/i

export interface PackagedTemporal {
  /** Each program, and its place below a directory. */
  readonly programs: readonly (readonly [from: string, to: string])[]
  /** The text of all licences. */
  readonly licenses: string
}

/** `home`: the directory of the product in the package. Throws if Temporal is not built. */
export async function packageTemporal(home: string): Promise<PackagedTemporal> {
  const { home: cached, server, sql } = temporalFiles(cacheDirectory())
  const missing = [server, sql].filter((file) => !existsSync(file))
  if (missing.length > 0) {
    throw new Error(
      `the package contains Temporal ${temporalVersion}, which is not built: there is no ${missing.join(' and no ')}; run npm run setup:temporal, which needs Go`,
    )
  }
  const to = packagedTemporal(home)
  const programs = [[server, to.server] as const, [sql, to.sql] as const]
  // Kept beside the programs, because it needs Go and its module cache.
  const kept = join(cached, 'LICENSES')
  if (!existsSync(kept)) await writeFile(kept, await licensesOf([server, sql]))
  return { programs, licenses: await readFile(kept, 'utf8') }
}

/** The licence files of every module in these programs and of Go itself; a text that several share is there once. */
async function licensesOf(programs: readonly string[]): Promise<string> {
  const built = await run(['go', 'version', '-m', ...programs])
  const names = [...built.matchAll(/^\t(?:mod|dep)\t(\S+)\t(\S+)/gm)]
  const modules = [...new Set(names.map(([, name, version]) => `${name}@${version}`))].sort()
  // Modules that are in the cache are not downloaded again.
  const found = await run(['go', 'mod', 'download', '-json', ...modules], { cwd: '/' })
  const places = found
    .split(/(?<=^\})\n/m)
    .filter((object) => object !== '')
    .map((object) => JSON.parse(object) as { Path: string; Version: string; Dir: string })
    .map(({ Path, Version, Dir }) => [`${Path}@${Version}`, Dir] as const)
  const go = (await run(['go', 'env', 'GOROOT'])).trim()
  const texts = new Map<string, string[]>()
  const without: string[] = []
  for (const [name, directory] of [...places, ['the Go library', go] as const]) {
    const files = (await readdir(directory)).filter((file) => LICENSE_FILE.test(file)).sort()
    if (files.length === 0) without.push(name)
    for (const file of files) {
      const text = (await readFile(join(directory, file), 'utf8')).trim()
      texts.set(text, [...(texts.get(text) ?? []), `${name} ${file}`])
    }
  }
  const parts = [...texts].map(([text, users]) => `==== ${users.join('\n==== ')}\n\n${text}\n`)
  return [
    'Licences of the Go modules in temporal-server and temporal-sql-tool.',
    `Modules without a licence file of their own: ${without.join(', ') || 'none'}.`,
    ...parts,
  ].join('\n\n')
}
