// Generates the pictures of the documentation from the real product: vmd and guests on a host of the lab, `skerry` on a terminal,
// and Chromium, which renders. Usage: npm run pictures, as root, with the Debian packages chromium-headless-shell, fonts-dejavu-core and pngquant.
// `npm run pictures -- web` makes those of the web UI only, without a host; names of pages after it select some of them.
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { BROWSER, guestImage, reasonToSkip, startHost } from '@skerry/lab'

import { startBrowser } from '../../tests/accept/console/browser.ts'
import { typeInto, untilSeen, untilState } from '../../tests/accept/console/look.ts'
import { inTheMiddle } from './bar.ts'
import { keepTop } from './crop.ts'
import { terminalPage, type Page } from './page.ts'
import { pictureTask } from './task.ts'
import { pictureWeb } from './web.ts'
import { pictureRun } from './workflow.ts'

const ROOT = join(import.meta.dirname, '../..')
const PICTURES = join(ROOT, 'docs/pictures')
/** Sharp enough for current screens. */
const SCALE = 1.5
/** A headless window still reserves space for its bars, and leaves that much of the page's end unrendered. */
const MORE = 200
const SERVER = join(ROOT, 'tests/accept/image-server.ts')

if (process.argv[2] === 'web') {
  const names = process.argv.slice(3)
  for (const file of await pictureWeb(join(PICTURES, 'web'), names)) console.log(file)
  process.exit()
}

const missing = reasonToSkip('host', 'small', 'browser')
if (missing !== undefined) {
  console.error(`pictures: ${missing}`)
  process.exit(1)
}

await using stack = new AsyncDisposableStack()
const dir = await mkdtemp(join(tmpdir(), 'pictures-'))
stack.defer(() => rm(dir, { recursive: true, force: true }))
const host = stack.use(await startHost({ dir: join(dir, 'host') }))
await host.startVmd()

const bin = join(ROOT, 'apps/cli/bin')
const { NO_COLOR: _, ...environment } = process.env
const env = {
  ...environment,
  PATH: `${bin}:${process.env['PATH']}`,
  TERM: 'xterm',
  LC_ALL: 'C.UTF-8',
  HOME: dir,
}

/** Runs a command line on a terminal and returns every byte of its output. */
async function typed(line: string): Promise<string> {
  const words = ['script', '-qfec', `stty cols 110; ${line}`, '/dev/null']
  const { code, stdout, stderr } = await host.run(words, { env })
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${stdout}${stderr}`)
  return stdout
}

/** Renders a URL that the host can reach. */
async function draw(url: string, name: string, width: number, height: number): Promise<void> {
  const file = join(PICTURES, `${name}.png`)
  const words = [
    BROWSER,
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    '--disable-dev-shm-usage',
    `--user-data-dir=${join(dir, 'browser')}`,
    `--window-size=${width},${height + MORE}`,
    `--force-device-scale-factor=${SCALE}`,
    `--screenshot=${file}`,
    url,
  ]
  const { code, stderr } = await host.run(words, { env })
  if (code !== 0) throw new Error(`chromium ended with ${code}: ${stderr}`)
  await writeFile(file, keepTop(await readFile(file), Math.round(height * SCALE)))
  console.log(file)
}

async function drawPage({ html, width, height }: Page, name: string): Promise<void> {
  const file = join(dir, `${name}.html`)
  await writeFile(file, html)
  await draw(`file://${file}`, name, width, height)
}

const image = await guestImage('small')
const server = host.spawn([process.execPath, SERVER, image], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
if (server.stdout === null) throw new Error('the server has no standard output')
const [port] = (await once(createInterface({ input: server.stdout }), 'line')) as [string]
const fetching = `skerry template import http://127.0.0.1:${port}/good.qcow2 --default`
const bar = inTheMiddle(await typed(fetching))

const vms = [
  'web-1 --name "Web server" --tag shop --memory 192M',
  'web-2 --name "Web server" --tag shop --memory 192M',
  'database --name Database --tag shop --memory 256M --cpus 2',
  'build --name "Build machine" --tag ci --memory 192M',
  'scratch --memory 128M',
]
for (const vm of vms) await typed(`skerry create ${vm}`)
for (const id of ['web-1', 'web-2', 'database', 'build']) await typed(`skerry start ${id}`)
for (const id of ['web-1', 'web-2', 'database', 'build']) await typed(`skerry address ${id} --wait`)
await typed('skerry pause web-2')
await typed('skerry suspend build')

await drawPage(terminalPage('skerry', [['skerry list', await typed('skerry list')]]), 'list')
await drawPage(terminalPage('skerry', [[fetching, bar]]), 'progress')
await draw('http://127.0.0.1:8080/', 'reference-page', 1100, 900)

const browser = stack.use(
  await startBrowser({ dir: join(dir, 'console'), netns: host.netns, scale: SCALE }),
)
const screen = await browser.open('http://127.0.0.1:8080/console/database')
await untilState(screen, 'Connected')
await typeInto(screen, 'cat /etc/os-release\n')
await untilSeen(screen, { host, domain: 'local-database' }, /^ID=/m)
const picture = join(PICTURES, 'console.png')
await screen.screenshot({ path: picture })
console.log(picture)

const run = join(PICTURES, 'workflow.png')
await pictureRun(run, { browser: BROWSER, scale: SCALE })
console.log(run)

const task = join(PICTURES, 'task.png')
await pictureTask(task, { browser: BROWSER, scale: SCALE })
console.log(task)

for (const file of await pictureWeb(join(PICTURES, 'web'))) console.log(file)
