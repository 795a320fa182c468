// Goal: an image at an http address becomes a template whole, or leaves nothing behind.
// Method: `skerry template import` on a host with vmd, from a web server on the same host that does well and badly.
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
/** Where the command line keeps what it fetches. */
let scratch: string

const environment = () => ({ ...process.env, TMPDIR: scratch })
const skerry = (...words: readonly string[]): Promise<Outcome> =>
  host.run([PROGRAM, ...words], { env: environment() })
const importing = (...words: readonly string[]) => skerry('template', 'import', ...words)

/** The same on a terminal: what was drawn is in stdout. */
const onTerminal = (...words: readonly string[]): Promise<Outcome> =>
  host.run(['script', '-qec', [PROGRAM, ...words].join(' '), '/dev/null'], { env: environment() })

async function templates(): Promise<readonly { name: string; digest: string }[]> {
  const { stdout } = await skerry('template', 'list', '--json')
  return JSON.parse(stdout) as { name: string; digest: string }[]
}

/** Neither with us nor with the daemon. */
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

suite('an image at an http address', { skip }, () => {
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

  test('it becomes the default when its digest is the one that was told', async () => {
    const ended = await importing(`${site}/good.qcow2`, '--default', '--sha256', digest)
    assert.deepEqual([ended.code, ended.stdout], [0, 'template default is there\n'], ended.stderr)
    assert.deepEqual(
      (await templates()).map((each) => [each.name, each.digest]),
      [['default', digest]],
    )
    await assertNothingLeft()
  })

  test('another digest is refused, with what to do next, and the old default stays', async () => {
    const wrong = digest.replace(/./g, 'a')
    await assertRefused(
      await importing(`${site}/good.qcow2`, '--default', '--sha256', wrong),
      new RegExp(`SHA-256 is ${digest}, not ${wrong}$`),
      /^next: get the file again, or give the right checksum$/,
    )
    assert.equal((await templates())[0]?.digest, digest)
    const typo = await importing(`${site}/good.qcow2`, '--default', '--sha256', 'abc')
    assert.deepEqual([typo.code, typo.stdout], [2, ''])
    assert.match(typo.stderr, /must be 64 digits.*\nnext: sha256sum FILE/)
  })

  test('what is not there, or cannot be reached, is told so', async () => {
    await assertRefused(
      await importing(`${site}/nothing.qcow2`),
      /nothing\.qcow2 answered 404 Not Found$/,
      /^next: see that the address is that of an image/,
    )
    await assertRefused(
      await importing('http://127.0.0.1:9/x.qcow2'),
      /cannot be reached$/,
      /^next: see that the address is right/,
    )
  })

  for (const name of ['cut', 'cut-unknown-size']) {
    test(`a connection that breaks off leaves no half template: ${name}`, async () => {
      await assertRefused(
        await importing(`${site}/${name}.qcow2`),
        /broke off after [\d.]+ MiB$/,
        /^next: nothing was imported; ask again$/,
      )
      assert.equal((await templates()).length, 1)
    })
  }

  test('whoever presses Ctrl-C leaves nothing either', async () => {
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

  test('a redirect is followed, and the name is that of the address', async () => {
    const ended = await importing(`${site}/moved.qcow2`)
    assert.deepEqual([ended.code, ended.stdout], [0, 'template moved is there\n'], ended.stderr)
    await assertNothingLeft()
  })

  test('a name that is taken is refused before anything is fetched', async () => {
    await assertRefused(
      await importing(`${site}/slow.qcow2`, '--name', 'moved'),
      /there is already a template moved$/,
      /^next: choose another by --name, or delete it first: skerry template rm moved$/,
    )
  })

  test('a terminal shows a bar while it is fetched, and one while it is imported', async () => {
    const words = ['template', 'import', `${site}/good.qcow2`, '--name', 'bar']
    const { code, stdout } = await onTerminal(...words)
    assert.equal(code, 0, stdout)
    assert.match(stdout, /fetching good {2}\[#+\.+\] \d+ % /)
    assert.match(stdout, /importing bar/)
    assert.ok(stdout.endsWith('template bar is there\r\n'), stdout)
    await assertNothingLeft()
  })

  test('of an unknown size the terminal shows how much came so far', async () => {
    const words = ['template', 'import', `${site}/unknown-size.qcow2`]
    const { code, stdout } = await onTerminal(...words)
    assert.equal(code, 0, stdout)
    assert.match(stdout, /fetching unknown-size, [\d.]+ MiB so far/)
    assert.equal((await templates()).find(({ name }) => name === 'unknown-size')?.digest, digest)
  })
})
