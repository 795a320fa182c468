// Shows a folder repeatedly while its name is swapped; prints what became visible.
// Runs in its own mount namespace, so that nothing stays mounted.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'

import { defaultPaths, type Paths } from '../src/host/paths.ts'
import { checkHostPath } from '../src/share/host-path.ts'
import { showAt, unmount } from '../src/share/mounts.ts'

const RACE_MAX_MS = 60_000
const [directory = '', below = '', milliseconds = ''] = process.argv.slice(2)
const at = (name: string) => join(directory, name)
const paths: Paths = { ...defaultPaths, data: at('data'), run: at('run') }
await mkdir(at('mine/inside'), { recursive: true })
await mkdir(at('data/inside'), { recursive: true })
const place = at('place')
await mkdir(place)
for (const where of ['mine', 'mine/inside']) await writeFile(at(`${where}/harmless`), '')
for (const where of ['data', 'data/inside']) await writeFile(at(`${where}/secret`), '')
await symlink(at('data'), at('link'))

const swapping = fork(`${import.meta.dirname}/swap-process.ts`, [
  at('door'),
  at('mine'),
  at('link'),
])
await once(swapping, 'message')
const began = performance.now()
const seen = { shown: 0, refused: 0, secret: 0 }
/** On a busy machine the two processes may run one after the other for a while. */
const isRace = () => (seen.shown > 0 && seen.refused > 0) || performance.now() - began > RACE_MAX_MS
while (performance.now() - began < Number(milliseconds) || !isRace()) {
  try {
    const real = await checkHostPath(paths, join(at('door'), below))
    await showAt(real, place, { aside: at('aside'), readOnly: true })
    seen.shown += 1
    if ((await readdir(place)).includes('secret')) seen.secret += 1
  } catch (error) {
    const known = error instanceof Fault || ['ENOENT', 'ELOOP', 'ENOTDIR'].includes(codeOf(error))
    if (!known) throw error
    seen.refused += 1
  } finally {
    await unmount(place)
  }
}
swapping.disconnect()
process.stdout.write(JSON.stringify(seen))

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}
