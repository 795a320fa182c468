// Python programs of others, installed once for each requirements list and kept outside the repository.
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheDirectory } from './cache-directory.ts'
import { lockFile } from './lock-file.ts'
import { run } from './run.ts'

/** Debian's Python: a list names what was built for it. */
const PYTHON = '/usr/bin/python3'
const DIGITS = 16
const RETRIES = '5'

/**
 * A Python with the exact versions and digests of a list. Concurrent callers wait for the same installation.
 */
export async function pythonWith(list: string): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(list))
    .digest('hex')
  const cache = cacheDirectory()
  const home = join(cache, `python-${digest.slice(0, DIGITS)}`)
  const python = join(home, 'bin/python')
  if (existsSync(python)) return python
  await mkdir(cache, { recursive: true })
  await using _ = await lockFile(`${home}.lock`)
  if (!existsSync(python)) await install(list, home)
  return python
}

async function install(list: string, home: string): Promise<void> {
  const unfinished = await mkdtemp(`${home}.unfinished-`)
  try {
    await run([PYTHON, '-m', 'venv', unfinished])
    await run([
      join(unfinished, 'bin/python'),
      '-m',
      'pip',
      '--disable-pip-version-check',
      'install',
      '--quiet',
      '--retries',
      RETRIES,
      '--only-binary',
      ':all:',
      '--no-deps',
      '--require-hashes',
      '--requirement',
      list,
    ])
    await rename(unfinished, home)
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}
