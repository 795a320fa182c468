// Goal: a logged-in user controls a real guest of a cloud with `skerry` alone, as docs/guides/cloud-cli.md describes. Method: a
// lab with a host, a cell and consoles; `skerry` in its own processes on the user's machine; libvirt and the guest itself are
// asked for the results.
import assert from 'node:assert/strict'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { guestImage } from '@skerry/lab'

import { personIn, PROGRAM, type Person } from '../cloud/skerry.ts'
import { domainOf, inGuest, openPlace, skip, stateOf, tenant, type Place } from './cloud/place.ts'
import { greetingAt } from './console/greeting.ts'
import { blocksIn } from './doc-blocks.ts'

const PAGE = join(import.meta.dirname, '../../docs/guides/cloud-cli.md')
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me'
const RUNNING = 'running'

const stack = new AsyncDisposableStack()
let place: Place
let person: Person
let home: string
const who = () => `${tenant().user}@${tenant().org}`

suite('skerry, in a cloud with a real guest', { skip }, () => {
  before(async () => {
    home = stack.use(await mkdtempDisposable(join(tmpdir(), 'person-'))).path
    person = personIn(home)
    place = stack.use(await openPlace({ hosts: 1, cells: 1, console: true }))
    await writeFile(join(home, 'cloud.pem'), await readFile(place.cloud.ca))
    await writeFile(join(home, 'id_ed25519.pub'), KEY)
  })
  after(() => stack.disposeAsync())

  test('every line of the page works as described', async () => {
    const page = await readFile(PAGE, 'utf8')
    const blocks = blocksIn(page)
    assert.ok(blocks.length >= 6)
    // Two differences from a user's run: the cloud has another address and user, and the password comes from standard input.
    const here = (block: string) =>
      block.replaceAll('https://cloud.example', place.cloud.url).replaceAll('bob@blue', who())
    const path = `PATH=${dirname(PROGRAM)}:$PATH`
    const lines = ['set -euo pipefail', path, ...blocks.map(here)].join('\n')
    const { code, out, err } = await person.run(['bash', '-c', lines], tenant().password)
    assert.equal(code, 0, `${out}\n${err}`)
    assert.match(out, /^web is created and powered on$/m)
    assert.match(out, /^\d+\.\d+\.\d+\.\d+$/m)
    assert.ok(out.includes(`\n${place.cloud.console?.page}?mks%3A`), out)
    assert.match(out, /^clean +\S+ +disk and memory +yes$/m)
    assert.match(out, /^web is reverted to clean, powered on$/m)
    assert.match(out, /^web-2 is deleted$/m)
    assert.ok(out.endsWith(`\n${who()} is logged out of work\n`), out)
  })

  test('a guest is created, snapshotted, reverted, viewed and deleted', async () => {
    const { does, skerry } = person
    const login = ['login', 'lab', place.cloud.url, '--user', who(), '--ca', 'cloud.pem']
    const { code, err } = await skerry(login, tenant().password)
    assert.equal(code, 0, err)
    const image = await guestImage('small')
    const imported = await does('template', 'import', image, '--name', 'mine', '--memory', '128M')
    assert.equal(imported, 'template mine is ready\n')
    assert.match(await does('template', 'info', 'mine'), /^memoryMB +128$/m)
    const catalogs = JSON.parse(await does('catalog', 'list', '--json')) as { name: string }[]
    const [catalog] = catalogs.map(({ name }) => name)
    assert.match(await does('catalog', 'info', catalog ?? ''), /^numberOfVAppTemplates +2$/m)
    assert.equal(
      await does('create', 'db', '--template', 'mine', '--start'),
      'db is created and powered on\n',
    )
    const [{ id = '' } = {}] = JSON.parse(await does('list', '--json')) as { id?: string }[]
    const domain = await domainOf(id)
    assert.equal(await stateOf(domain), RUNNING)
    assert.equal(await inGuest(domain, 'echo kept > /tmp/note; cat /tmp/note'), 'kept')

    assert.match(await does('snapshot', 'create', 'db', 'noted'), /^snapshot noted of db is taken/)
    assert.equal(await inGuest(domain, 'echo lost > /tmp/note; cat /tmp/note'), 'lost')
    const back = await does('snapshot', 'revert', 'db', 'noted')
    assert.equal(back, 'db is reverted to noted, powered on\n')
    assert.equal(await inGuest(domain, 'cat /tmp/note'), 'kept')

    const address = (await does('address', 'db', '--wait')).trim()
    assert.ok((await does('ssh', 'db', '--print')).endsWith(`@${address}\n`))
    const shown = new URL(await does('console', 'db', '--print'))
    const ticket = decodeURIComponent(shown.search.slice(1))
    const wss = ticket.replace(/^mks:\/\/([^/]+)\//, 'wss://$1/screen/')
    assert.equal(await greetingAt(wss, await readFile(place.cloud.ca, 'utf8')), 'RFB 003.008\n')

    assert.equal(await does('stop', 'db', '--force'), 'db is powered off\n')
    assert.equal(await stateOf(domain), 'shut off')
    assert.equal(await does('start', 'db'), 'db is powered on\n')
    assert.equal(await stateOf(domain), RUNNING)
    assert.equal(await does('rm', 'db', '--force'), 'db is deleted\n')
    await assert.rejects(domainOf(id), /no host has/)
    assert.equal(await does('logout'), `${who()} is logged out of lab\n`)
  })
})
