import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { asideDirectory, templatesDirectory, type Paths } from '../host/paths.ts'
import { removeEmpty, unmount } from '../share/mounts.ts'

/** Removes the unfinished work of an engine that died. Call it only before a new engine starts working. */
export async function clearUnfinished(paths: Paths): Promise<void> {
  const templates = templatesDirectory(paths)
  await settleImports(templates)
  const names = new Set(await readdir(templates))
  for (const name of names) {
    // A template's JSON file is written before its image and deleted after it.
    const isLone = name.endsWith('.json') && !names.has(name.replace(/\.json$/, '.qcow2'))
    if (isLone || name.endsWith('.tmp')) await rm(join(templates, name))
  }
  const aside = asideDirectory(paths)
  for (const name of await readdir(aside).catch(() => [])) {
    await unmount(join(aside, name))
    await removeEmpty(join(aside, name))
  }
}

/** An interrupted import is rolled back, unless its image is already in place. */
async function settleImports(templates: string): Promise<void> {
  const names = await readdir(templates)
  for (const next of names.filter((name) => name.endsWith('.json.next'))) {
    const image = next.replace(/\.json\.next$/, '.qcow2')
    const waits = names.includes(`${image}.tmp`) || names.includes(`${image}.qcow2.tmp`)
    const file = join(templates, next)
    if (waits || !names.includes(image)) await rm(file)
    else await rename(file, file.replace(/\.next$/, ''))
  }
}
