import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

import { removeEmpty, unmount } from './mounts.ts'
import { asideDirectory, templatesDirectory, type Paths } from './paths.ts'

/** Takes away what an engine that died was in the middle of. Only before another begins its work. */
export async function clearUnfinished(paths: Paths): Promise<void> {
  const templates = templatesDirectory(paths)
  await settleImports(templates)
  const names = new Set(await readdir(templates))
  for (const name of names) {
    // The facts of a template are written before its image and outlive it when it is deleted.
    const isLone = name.endsWith('.json') && !names.has(name.replace(/\.json$/, '.qcow2'))
    if (isLone || name.endsWith('.tmp')) await rm(join(templates, name))
  }
  const aside = asideDirectory(paths)
  for (const name of await readdir(aside).catch(() => [])) {
    await unmount(join(aside, name))
    await removeEmpty(join(aside, name))
  }
}

/** An import that was cut short is as if it had never begun, unless its image is already in its place. */
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
