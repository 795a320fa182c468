// From a clone to the screen of a VM on a fresh Debian 12: the README's lines unmodified, on a machine with systemd built from
// packages, and a picture of what Chromium shows.
// Usage: node tests/accept/prove-five-commands.ts [PICTURE.png]
// Prints one line of JSON: the seconds of each command.
// Two differences from a user's run: the machine is started after the first line, which downloads and installs, because its
// network reaches only Debian's archive; and Chromium runs outside, in its network.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { forgetNetwork, nameNetwork } from '../../tools/lab/src/network/netns.ts'
import { requirePrograms } from '../../tools/lab/src/system/packages.ts'
import { run } from '../../tools/lab/src/system/run.ts'
import { until } from '../../tools/lab/src/system/wait.ts'
import { DebianMachine } from '../faults/debian-machine.ts'
import { openArchive } from './archive-relay.ts'
import { startBrowser } from './console/browser.ts'
import { linesAfter } from './readme-lines.ts'

const ROOT = join(import.meta.dirname, '../..')
const HOME = '/root/skerry'
const CONSOLE = 'npx skerry console my-vm'
const START_MS = 120_000
/** A Debian with cloud-init, emulated on few cores. */
const BOOT_MS = 900_000
/** The packages of a user who has Debian, git and npm. */
const PACKAGES = ['git', 'npm', 'sudo', 'ca-certificates', 'util-linux']

requirePrograms('host', 'debian', 'package', 'browser')
const began = performance.now()
const seconds: Record<string, number> = {}
const say = (line: string) =>
  void process.stderr.write(`${Math.round((performance.now() - began) / 1000)} s: ${line}\n`)
async function timed<Result>(line: string, work: () => Promise<Result>): Promise<Result> {
  say(line)
  const start = performance.now()
  const result = await work()
  seconds[line] = Number(((performance.now() - start) / 1000).toFixed(1))
  return result
}

const lines = await linesAfter('README.md', 'in five commands:')
assert.equal(lines.length, 5)
const [install = '', daemon = '', build = '', create = '', ssh = ''] = lines.map((line) =>
  line.replace(/ +#.*/, ''),
)
assert.ok((await run(['cat', join(ROOT, 'README.md')])).includes(`\`${CONSOLE}\``))

await using stack = new AsyncDisposableStack()
const work = await mkdtemp(join(tmpdir(), 'five-'))
stack.defer(() => rm(work, { recursive: true, force: true }))
say(`building a Debian of ${PACKAGES.join(', ')}`)
const machine = stack.use(await DebianMachine.make(PACKAGES))
await run(['git', 'clone', '-q', '--no-hardlinks', ROOT, join(machine.root, HOME)])
// A build behind a proxy needs sudo to pass the variables on.
await writeFile(join(machine.root, 'etc/sudoers.d/proxy'), 'Defaults env_keep += "http_proxy"\n')

await timed(install, () => machine.install(['bash', '-ec', `cd ${HOME}; ${install}`]))
say('switching it on')
await machine.boot()
const archive = stack.use(await openArchive(machine, work))
const shell = (line: string) => [
  'env',
  `http_proxy=${archive.proxy}`,
  'bash',
  '-ec',
  `cd ${HOME}; ${line}`,
]
await mkdir(join(machine.root, 'root/.ssh'), { recursive: true, mode: 0o700 })
await machine.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', '/root/.ssh/id_ed25519'])

let said = ''
await timed(daemon, async () => {
  const child = machine.begin(shell(daemon), { stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until(
    'vmd should answer',
    () => {
      if (child.exitCode !== null) throw new Error(`${daemon} ended: ${said}`)
      return said.includes('vmd answers at')
    },
    START_MS,
  )
})
assert.match(await timed(build, () => machine.run(shell(build))), /^template default is ready/m)
assert.match(
  await timed(create, () => machine.run(shell(create))),
  /^my-vm is created and powered on/m,
)
const shown = await timed(CONSOLE, () => machine.run(shell(CONSOLE)))
const [address = ''] = /http:\S+/.exec(shown) ?? []
const picture = resolve(process.argv[2] ?? join(tmpdir(), `five-commands-${process.pid}.png`))

await timed('the guest asks who logs in, on the page', async () => {
  const netns = `five-${process.pid}`
  await nameNetwork(netns, machine.pid)
  stack.defer(() => forgetNetwork(netns))
  const browser = stack.use(await startBrowser({ dir: join(work, 'browser'), netns }))
  const page = await browser.open(address)
  await page
    .locator('#state')
    .filter({ hasText: /^Connected$/ })
    .waitFor({ timeout: START_MS })
  // The guest's kernel returns the text of its first terminal.
  const terminal = shell('npx skerry exec my-vm -- cat /dev/vcs1')
  await until(
    'the guest should prompt for a login',
    async () => / login: /.test((await machine.attempt(terminal)).stdout),
    BOOT_MS,
  )
  const lit = () =>
    page
      .locator('canvas')
      .first()
      .evaluate(
        (canvas: {
          width: number
          height: number
          getContext(kind: '2d'): {
            getImageData(x: number, y: number, w: number, h: number): { data: Uint8ClampedArray }
          }
        }) => {
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
          return data.filter((value, at) => at % 4 === 1 && value > 100).length
        },
      )
  await until('letters should be on the canvas', async () => (await lit()) > 200, START_MS)
  await page.screenshot({ path: picture })
})
const name = await timed(ssh, () => machine.run(shell(`echo hostname | ${ssh}`)))
assert.match(name, /my-vm/)
const total = Number(((performance.now() - began) / 1000).toFixed(1))
console.log(JSON.stringify({ commands: seconds, picture, total }))
