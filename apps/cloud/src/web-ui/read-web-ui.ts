import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { loadPageFiles, type PageFiles } from '@skerry/service'

const CLOUD = join(import.meta.dirname, '../..')

/** The built web UI, which is installed beside the cell, and the version of both. */
export async function readWebUi(): Promise<{
  readonly files: PageFiles | undefined
  readonly version: string
}> {
  const text = await readFile(join(CLOUD, 'package.json'), 'utf8')
  const { version } = JSON.parse(text) as { readonly version: string }
  return { version, files: await loadPageFiles(join(CLOUD, '../web/dist')) }
}
