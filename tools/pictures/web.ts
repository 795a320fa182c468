// Pictures of the web UI in both themes, from Chromium over the simulated cell, which has invented data. The web UI must be built.
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { startBrowser } from '../../tests/web/browser.ts'
import { startSimulatedCell } from '../../tests/web/simulated-cell/server.ts'

const run = promisify(execFile)
const SIZE = { width: 1280, height: 720 }

interface WebPicture {
  readonly name: string
  readonly path: string
  readonly user?: string
  /** What must be there before the picture is taken. */
  readonly shows: string
}

const VM = '01980001-7331-7000-8000-000000002cb1'
const RESTART = '01980010-0000-7000-8000-000000000002'
const RUN = '01980011-0000-7000-8000-000000000001'
const ADMINISTRATOR = 'root@System'

const pictures: readonly WebPicture[] = [
  { name: 'overview', path: '/', shows: 'Storage' },
  { name: 'vms', path: '/vms', shows: 'ago' },
  { name: 'preview', path: `/vms?preview=vm-${VM}`, shows: 'Details' },
  { name: 'vm', path: `/vms/vm-${VM}`, shows: 'Details' },
  { name: 'create-vm', path: '/vms/new', shows: 'On a terminal' },
  { name: 'tasks', path: '/tasks', shows: 'ago' },
  { name: 'hosts', path: '/admin/hosts', user: ADMINISTRATOR, shows: 'Memory by host' },
  { name: 'cells', path: '/admin/cells', user: ADMINISTRATOR, shows: 'A check fails' },
  { name: 'run', path: `/workflows/${RESTART}/runs/${RUN}`, shows: 'Waiting for an answer' },
  { name: 'organisation', path: '/org?tab=quota', shows: 'Storage' },
]

/** Writes two files for each page, or for the named ones, and returns their paths. */
export async function pictureWeb(
  directory: string,
  names: readonly string[] = [],
): Promise<readonly string[]> {
  await mkdir(directory, { recursive: true })
  await using cell = await startSimulatedCell()
  await using browser = await startBrowser(cell)
  const files: string[] = []
  const wanted = pictures.filter(({ name }) => names.length === 0 || names.includes(name))
  for (const { name, path, user, shows } of wanted) {
    for (const isDark of [false, true]) {
      const page = await browser.open({
        width: SIZE.width,
        isDark,
        path,
        ...(user !== undefined && { user }),
      })
      await page.setViewportSize(SIZE)
      await page.getByText(shows).first().waitFor()
      const file = join(directory, `${name}-${isDark ? 'dark' : 'light'}.png`)
      await page.screenshot({ path: file })
      // Few colours are enough for text and lines, and make a third of the bytes.
      await run('pngquant', ['--force', '--output', file, '--strip', '64', file])
      files.push(file)
      await page.context().close()
    }
  }
  return files
}
