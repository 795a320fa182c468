// Goal: an image at an HTTP URL becomes a complete template, or leaves nothing behind. Method: `skerry template import` on a host
// with vmd, from a web server on the same host that works and fails in several ways.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, suite, test } from 'node:test'

import { guestImage, reasonToSkip, startHost, until, type LabHost, type Outcome } from '@skerry/lab'

const skip = reasonToSkip('host', 'small') ?? false
const PROGRAM = join(import.meta.dirname, '../../apps/cli/bin/skerry')
const SERVER = join(import.meta.dirname, 'image-server.ts')

let dir: string
let host: LabHost
let site: string
let digest: string
/** The download directory of the command line. */
let scratch: string

const environment = () => ({ ...process.env, TMPDIR: scratch })
const skerry = (...words: readonly string[]): Promise<Outcome> =>
  host.run([PROGRAM, ...words], { env: environment() })
const importing = (...words: readonly string[]) => skerry('template', 'import', ...words)

/** The same on a terminal: the drawn output is in stdout. */
const onTerminal = (...words: readonly string[]): Promise<Outcome> =>
  host.run(['script', '-qec', [PROGRAM, ...words].join(' '), '/dev/null'], { env: environment() })

async function templates(): Promise<readonly { name: string; digest: string }[]> {
  const { stdout } = await skerry('template', 'list', '--json')
  return JSON.parse(stdout) as { name: string; digest: string }[]
}

/** Neither in the command's directory nor in the daemon's. */
async function assertNothingLeft(): Promise<void> {
  assert.deepEqual(await readdir(scratch), [])
  const kept = await readdir(join(host.dir, 'skerry/templates'))
  assert.deepEqual(
    kept.filter((name) => name.includes('tmp')),
    [],
  )
}

async function assertRefused(ended: Outcome, message: RegExp, next: RegExp): Promise<void> {
  const [first = '', second = ''] = ended.stderr.split('\n')
  assert.deepEqual([ended.code, ended.stdout], [1, ''], ended.stderr)
  assert.match(first, message)
  assert.match(second, next)
  await assertNothingLeft()
}

suite('an image at an HTTP URL', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'import-'))
    scratch = join(dir, 'scratch')
    await mkdir(scratch)
    const image = await guestImage('small')
    digest = createHash('sha256')
      .update(await readFile(image))
      .digest('hex')
    host = await startHost({ dir: join(dir, 'host') })
    await host.startVmd()
    const server = host.spawn([process.execPath, SERVER, image], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    assert.ok(server.stdout)
    const [port] = (await once(createInterface({ input: server.stdout }), 'line')) as [string]
    site = `http://127.0.0.1:${port}`
  })
  after(async () => {
    await host[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  test('it becomes the default if its digest matches the given one', async () => {
    const ended = await importing(`${site}/good.qcow2`, '--default', '--sha256', digest)
    assert.deepEqual([ended.code, ended.stdout], [0, 'template default is ready\n'], ended.stderr)
    assert.deepEqual(
      (await templates()).map((each) => [each.name, each.digest]),
      [['default', digest]],
    )
    await assertNothingLeft()
  })

  test('another digest is rejected with the next step, and the old default stays', async () => {
    const wrong = digest.replace(/./g, 'a')
    await assertRefused(
      await importing(`${site}/good.qcow2`, '--default', '--sha256', wrong),
      new RegExp(`SHA-256 is ${digest}, not ${wrong}$`),
      /^next: download the file again, or give the right checksum$/,
    )
    assert.equal((await templates())[0]?.digest, digest)
    const typo = await importing(`${site}/good.qcow2`, '--default', '--sha256', 'abc')
    assert.deepEqual([typo.code, typo.stdout], [2, ''])
    assert.match(typo.stderr, /must be 64 digits.*\nnext: sha256sum FILE/)
  })

  test('a missing or unreachable image is reported', async () => {
    await assertRefused(
      await importing(`${site}/nothing.qcow2`),
      /nothing\.qcow2 answered 404 Not Found$/,
      /^next: check that the URL is that of an image/,
    )
    await assertRefused(
      await importing('http://127.0.0.1:9/x.qcow2'),
      /cannot be reached$/,
      /^next: check the URL/,
    )
  })

  for (const name of ['cut', 'cut-unknown-size']) {
    test(`a broken connection leaves no partial template: ${name}`, async () => {
      await assertRefused(
        await importing(`${site}/${name}.qcow2`),
        /broke off after [\d.]+ MiB$/,
        /^next: nothing was imported; try again$/,
      )
      assert.equal((await templates()).length, 1)
    })
  }

  test('an interruption by Ctrl-C leaves nothing either', async () => {
    const command = [PROGRAM, 'template', 'import', `${site}/slow.qcow2`]
    const child = host.spawn(command, { env: environment(), stdio: 'ignore' })
    const ended = once(child, 'close')
    await until('something is fetched', async () => {
      const [directory] = await readdir(scratch)
      return directory !== undefined && existsSync(join(scratch, directory, 'image'))
    })
    child.kill('SIGINT')
    const [code, signal] = (await ended) as [number | null, string | null]
    assert.ok(signal === 'SIGINT' || code === 130, `${code} ${signal}`)
    await assertNothingLeft()
  })

  test('a redirect is followed, and the name comes from the original URL', async () => {
    const ended = await importing(`${site}/moved.qcow2`)
    assert.deepEqual([ended.code, ended.stdout], [0, 'template moved is ready\n'], ended.stderr)
    await assertNothingLeft()
  })

  test('a name in use is rejected before anything is downloaded', async () => {
    await assertRefused(
      await importing(`${site}/slow.qcow2`, '--name', 'moved'),
      /there is already a template moved$/,
      /^next: choose another name with --name, or delete it first: skerry template rm moved$/,
    )
  })

  test('a terminal shows a progress bar for the download and one for the import', async () => {
    const words = ['template', 'import', `${site}/good.qcow2`, '--name', 'bar']
    const { code, stdout } = await onTerminal(...words)
    assert.equal(code, 0, stdout)
    assert.match(stdout, /downloading good {2}\[#+\.+\] \d+ % /)
    assert.match(stdout, /importing bar/)
    assert.ok(stdout.endsWith('template bar is ready\r\n'), stdout)
    await assertNothingLeft()
  })

  test('for an unknown size the terminal shows the received bytes', async () => {
    const words = ['template', 'import', `${site}/unknown-size.qcow2`]
    const { code, stdout } = await onTerminal(...words)
    assert.equal(code, 0, stdout)
    assert.match(stdout, /downloading unknown-size, [\d.]+ MiB so far/)
    assert.equal((await templates()).find(({ name }) => name === 'unknown-size')?.digest, digest)
  })
})
