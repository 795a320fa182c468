// Goal: features of vmd beyond its specification, by curl on a host with real guests. Method: one guest for all of it, in the
// order a user would try things; with power cuts where they matter.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { assertSaid, BASE, curlOn, refused } from './curl.ts'

const skip = reasonToSkip('host', 'small') ?? false
const BOOT_MS = 120_000
const PNG = '89504e47'
/** A foreign program that uses a port. */
const LISTEN = "require('node:net').createServer().listen(process.argv[1], '127.0.0.1')"

interface Row {
  readonly id: string
  readonly address?: string
  readonly boot: string | null
}

let dir: string
let host: LabHost
const { curl, get, post, patch, remove } = curlOn(() => host)

const rows = async (query: string) => (await get(`/api/vms?view=full${query}`)).body as Row[]
const sh = (script: string) => ({ path: '/bin/sh', args: ['-c', script] })

/** The output of a script in the guest, once its agent answers. */
const inGuest = (id: string, script: string) =>
  until(
    `${id} answers`,
    async () => {
      const { status, body } = await post(`/api/vms/${id}/exec`, sh(script))
      return status === 200 && (body as { stdout: string })
    },
    BOOT_MS,
  )

const timesUp = async (id: string): Promise<number> =>
  (await get(`/api/vms/${id}/serial?bytes=1000000`)).text.match(/guest up in/g)?.length ?? 0

/** Polling a hundred times a second would leave no CPU time for the guests on two cores. */
const untilUp = (id: string, times: number) =>
  until(
    `${id} is up again`,
    async () => {
      const isUp = (await timesUp(id)) >= times
      if (!isUp) await sleep(300)
      return isUp
    },
    BOOT_MS,
  )

const run = promisify(execFile)

/** A new key in a file of this name; returns its public half. */
async function makeKey(name: string): Promise<string> {
  const file = join(dir, name)
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file])
  return (await readFile(`${file}.pub`, 'utf8')).trim()
}

const ssh = (key: string, address: string, port: number, command: string) =>
  host.run([
    'ssh',
    '-i',
    join(dir, key),
    '-o',
    'IdentitiesOnly=yes',
    '-o',
    'BatchMode=yes',
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'ConnectTimeout=60',
    '-p',
    String(port),
    `root@${address}`,
    command,
  ])

/** The entries of the DHCP server, one file per VM. */
const fixed = async () =>
  (await host.run(['ls', '-A', '/var/lib/skerry/dhcp'])).stdout.split('\n').filter(Boolean)

const listening = async (port: number) =>
  (await host.run(['ss', '-Hltn', `sport = :${port}`])).stdout

/** The banner of the guest's SSH server. */
const greeting = async (port: number, address = '127.0.0.1') =>
  (await host.run(['bash', '-c', `head -c 4 < /dev/tcp/${address}/${port}`])).stdout

suite('the local API beyond its specification, by curl', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'extensions-'))
    host = await startHost({ dir: join(dir, 'host') })
    await host.startVmd()
  })
  after(async () => {
    await host[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  test('a template is imported with its checksum, listed, replaced and deleted', async () => {
    const file = await guestImage('small')
    const sha256 = createHash('sha256')
      .update(await readFile(file))
      .digest('hex')
    assert.deepEqual((await get('/api/templates')).body, [])
    const wrong = { name: 'small', file, sha256: '0'.repeat(64) }
    refused(await post('/api/templates', wrong), 409, /SHA-256 is [0-9a-f]{64}, not 0{64}/)
    refused(await post('/api/templates', { file }), 400, /name is required/)
    refused(await post('/api/templates', { name: 'x', file: '/none' }), 400, /no file \/none/)
    refused(await post('/api/templates', { name: 'x', file: 'none' }), 400, /absolute path/)
    refused(await post('/api/templates', { name: 'a b', file }), 400, /name must match/)
    refused(await post('/api/templates', { ...wrong, sha256: 'abc' }), 400, /sha256/)
    assert.deepEqual((await get('/api/templates')).body, [])

    const made = await post('/api/templates', { name: 'small', file, sha256 })
    assert.equal(made.status, 201, made.text)
    assert.equal((made.body as { name: string }).name, 'small')
    refused(
      await post('/api/templates', { name: 'small', file }),
      409,
      /template small already exists/,
    )
    for (const _ of ['made', 'made again']) {
      assert.equal((await post('/api/templates?default', { file, sha256 })).status, 201)
    }
    const names = async () =>
      ((await get('/api/templates')).body as { name: string }[]).map(({ name }) => name)
    assert.deepEqual(await names(), ['default', 'small'])
    assert.equal((await remove('/api/templates/small')).status, 204)
    refused(await remove('/api/templates/small'), 404, /template small not found/)
    assert.deepEqual(await names(), ['default'])
  })

  test('the API documents itself, for people and for programs', async () => {
    const page = await get('/')
    assert.deepEqual([page.status, page.type], [200, 'text/html; charset=utf-8'])
    assert.match(page.text, /^<!doctype html>[^]*\/api\/vms\/\{id\}\/forwards/)
    const visit = ['Site: cross-site', 'Mode: navigate', 'Dest: document']
    const headers = visit.flatMap((each) => ['-H', `Sec-Fetch-${each}`])
    const opened = await curl(...headers, `${BASE}/`)
    assert.equal(opened.status, 200, 'a link from elsewhere opens the page')
    const document = await get('/openapi.json')
    assert.match(document.type, /^application\/json/)
    assert.deepEqual((await get('/json/swagger.json')).body, document.body)
    assert.equal((document.body as { info: { version: string } }).info.version, '1.0.0')
  })

  test('settings are given at create, changed while off, and shown in the full list', async () => {
    const settings = { memoryMiB: 128, tag: 'red', sshKeys: [await makeKey('mine')] }
    const requested = { id: 'one', ...settings, sourceReference: 'passed over' }
    assert.equal((await post('/api/vms', requested)).status, 201)
    const two = { id: 'two', cpus: 2, memoryMiB: 96, diskMiB: 4096, autostart: true }
    assert.equal((await post('/api/vms', two)).status, 201)
    refused(await post('/api/vms', { id: 'x', cpus: 0 }), 400, /cpus must be a whole number/)
    refused(await post('/api/vms', { id: 'x', memoryMiB: '1' }), 400, /memoryMiB must be integer/)
    refused(await post('/api/vms', { id: 'x', diskMiB: 1 }), 400, /diskMiB must be at least/)
    refused(await post('/api/vms', { id: 'x', template: 'none' }), 503, /template none not found/)
    refused(await post('/api/vms', { id: 'x', sshKeys: ['no'] }), 400, /SSH key must be one line/)
    refused(
      await post('/api/vms', { id: 'x', parentid: 'one', template: 'default' }),
      400,
      /not both/,
    )

    const { autostart, cpus, ...rest } = two
    const row = {
      ...rest,
      name: 'two',
      tag: '',
      state: 'powered off',
      cpus,
      autostart,
      sharing: false,
      nested: false,
      boot: null,
    }
    assert.deepEqual(await rows('&id=two'), [row])
    assert.deepEqual(
      (await rows('')).map(({ id }) => id),
      ['one', 'two'],
    )
    assert.deepEqual(
      (await rows('&tag=red')).map(({ id }) => id),
      ['one'],
    )
    assert.deepEqual(await rows('&state=powered%20on'), [])
    assert.deepEqual((await get('/api/vms?tag=red')).body, ['one'])
    refused(await get('/api/vms?view=some'), 400, /query: view/)
    refused(await get('/api/vms?state=on'), 400, /query: state/)

    const changed = { name: 'Zwei', tag: 'red', cpus: 1, memoryMiB: 128, diskMiB: 4100 }
    const answer = await patch('/api/vms/two', changed)
    assert.deepEqual([answer.status, answer.body], [200, { ...row, ...changed }])
    refused(await patch('/api/vms/two', { diskMiB: 64 }), 400, /can only grow/)
    refused(await patch('/api/vms/two', { memory: 64 }), 400, /memory must not be given here/)
    refused(await patch('/api/vms/two', { name: '' }), 400, /a name must have/)
    refused(await patch('/api/vms/nobody', {}), 404, /there is no VM nobody/)
    assert.equal((await remove('/api/vms/two')).status, 204)
  })

  test('a broken VM is reported in its own row and hides no other', async () => {
    for (const id of ['lost', 'hurt']) assert.equal((await post('/api/vms', { id })).status, 201)
    await host.run(['virsh', '-q', 'undefine', 'local-lost'])
    await host.run(['sh', '-c', 'rm /var/lib/skerry/vms/hurt.vm/1/layer-0.qcow2'])
    const [hurt, lost, one] = await rows('')
    assert.deepEqual([one?.id, one?.boot], ['one', null])
    const broken = (id: string) => ({ id, name: id, tag: '', state: 'powered off' })
    const gone = 'VM lost has a disk but no libvirt domain'
    const next = 'delete VM lost, or define its domain local-lost again'
    assert.deepEqual(lost, { ...broken('lost'), problem: `${gone}; ${next}` })
    const { problem, ...rest } = hurt as Row & { readonly problem: string }
    assert.deepEqual(rest, broken('hurt'))
    assert.match(problem, /^the disk file .*hurt\.vm.*layer-0\.qcow2 is missing; restore it/)
    refused(await get('/api/vms/power/lost'), 503, /VM lost has a disk but no libvirt domain/)
    for (const id of ['lost', 'hurt']) assert.equal((await remove(`/api/vms/${id}`)).status, 204)
  })

  test('the address is waited for, and is in the full list', async () => {
    refused(await get('/api/vms/one/ipaddress?wait=5'), 409, /is off and has no address/)
    // Paused, so that it cannot have an address yet, however long this process pauses.
    assert.equal((await host.run(['virsh', '-q', 'start', '--paused', 'local-one'])).code, 0)
    refused(await get('/api/vms/one/ipaddress?wait=1'), 504, /no address within 1 s/)
    assertSaid(await patch('/api/vms/power/one', 'unpause'), 200, 'powered on')
    refused(await get('/api/vms/one/ipaddress?wait=soon'), 400, /query: wait/)
    const waited = await get('/api/vms/one/ipaddress?wait=100')
    assert.equal(waited.status, 200, waited.text)
    const [row] = await rows('&state=powered%20on')
    assert.equal(row?.address, (waited.body as { message: string }).message)
    assert.match(row?.boot ?? '', /./)
    assert.equal((await patch('/api/vms/one', { name: 'Eins', autostart: false })).status, 200)
    refused(await patch('/api/vms/one', { cpus: 2 }), 409, /is on; it must be off/)
  })

  test('a program runs in the guest, and its output and exit code are returned', async () => {
    await untilUp('one', 1)
    assert.equal((await inGuest('one', 'echo hello')).stdout, 'hello\n')
    const ran = await post('/api/vms/one/exec', {
      ...sh('cat; echo bad >&2; exit 3'),
      input: 'in',
    })
    assert.deepEqual(ran.body, { exitCode: 3, stdout: 'in', stderr: 'bad\n' })
    refused(
      await post('/api/vms/one/exec', { ...sh('sleep 60'), timeoutMs: 300 }),
      504,
      /did not exit in the guest within 0.3 s/,
    )
    refused(await post('/api/vms/one/exec', {}), 400, /path/)
    refused(await post('/api/vms/nobody/exec', sh('true')), 404, /there is no VM nobody/)
    refused(await post('/api/vms/one/exec', { path: '/none' }), 400, /none cannot be started/)
  })

  test('serial log, screen and statistics of a running guest can be read', async () => {
    const log = await get('/api/vms/one/serial')
    assert.deepEqual([log.status, log.type], [200, 'text/plain; charset=utf-8'])
    assert.match(log.text, /guest up in/)
    assert.equal((await get('/api/vms/one/serial?bytes=10')).text.length, 10)
    refused(await get('/api/vms/one/serial?bytes=all'), 400, /query: bytes/)

    const file = join(dir, 'screen.png')
    const shot = await curl('-o', file, `${BASE}/api/vms/one/screenshot`)
    assert.deepEqual([shot.status, shot.type], [200, 'image/png'])
    assert.equal((await readFile(file)).subarray(0, 4).toString('hex'), PNG)

    const stats = (await get('/api/vms/one/stats')).body as { cpuNanoseconds: number }
    assert.ok(stats.cpuNanoseconds > 0)

    refused(await get('/api/vms/one/usage?step=7'), 400, /step must be a multiple of 15/)
    refused(await get('/api/vms/one/usage?points=241'), 400, /kept for an hour/)
    refused(await get('/api/vms/nobody/usage'), 404, /there is no VM/)
    const isMeasured = async () => {
      const { cpuPercent = [] } = (await get('/api/vms/one/usage')).body as {
        cpuPercent?: readonly (number | null)[]
      }
      return cpuPercent.length === 240 && cpuPercent.some((value) => value !== null)
    }
    // A rate needs two samples, which are 15 s apart.
    await until('vmd has measured the guest', isMeasured, 60_000)
  })

  test('a guest is reverted to a snapshot, including memory', async () => {
    await inGuest('one', 'echo before > /tmp/word')
    refused(await post('/api/vms/one/snapshots', { name: 'a b' }), 400, /name must match/)
    const kept = await post('/api/vms/one/snapshots', { name: 'good' })
    assert.equal(kept.status, 201, kept.text)
    const { createdAt, ...facts } = kept.body as { createdAt: string }
    assert.deepEqual(facts, { name: 'good', memory: true, current: true })
    assert.match(createdAt, /^20\d\d-/)
    refused(await post('/api/vms/one/snapshots', { name: 'good' }), 409, /already has a snapshot/)
    assert.deepEqual((await get('/api/vms/one/snapshots')).body, [kept.body])
    assert.deepEqual((await get('/api/vms/one/snapshots/good')).body, kept.body)

    await inGuest('one', 'echo after > /tmp/word')
    assertSaid(await post('/api/vms/one/snapshots/good/revert'), 200, 'powered on')
    assert.equal((await inGuest('one', 'cat /tmp/word')).stdout, 'before\n')
    assert.equal((await remove('/api/vms/one/snapshots/good')).status, 204)
    for (const requested of [
      get('/api/vms/one/snapshots/good'),
      remove('/api/vms/one/snapshots/good'),
      post('/api/vms/one/snapshots/good/revert'),
    ])
      refused(await requested, 404, /snapshot good/)
    assert.deepEqual((await get('/api/vms/one/snapshots')).body, [])
  })

  test('a guest is reset and rebooted', async () => {
    const ups = await timesUp('one')
    assertSaid(await post('/api/vms/one/reset'), 200, 'powered on')
    await untilUp('one', ups + 1)
    await inGuest('one', 'true')
    assertSaid(await post('/api/vms/one/reboot'), 200, 'powered on')
    await untilUp('one', ups + 2)
    refused(await post('/api/vms/nobody/reset'), 404, /there is no VM nobody/)
  })

  test('a port of the host is forwarded to the guest, and a used port is rejected with its owner', async () => {
    const forward = { hostPort: 2222, guestPort: 22 }
    const whole = { hostAddress: '127.0.0.1', ...forward, protocol: 'tcp' }
    const added = await post('/api/vms/one/forwards', forward)
    assert.deepEqual([added.status, added.body], [201, whole])
    assert.equal((await post('/api/vms/one/forwards', whole)).status, 201)
    await until('SSH answers', async () => (await greeting(2222)) === 'SSH-', BOOT_MS)
    assert.deepEqual((await get('/api/vms/one/forwards')).body, [{ ...whole, listening: true }])

    const login = await ssh('mine', '127.0.0.1', 2222, 'hostname')
    assert.deepEqual([login.code, login.stdout], [0, 'one\n'], login.stderr)

    const other = { ...forward, guestPort: 80 }
    refused(
      await post('/api/vms/one/forwards', other),
      409,
      /2222 already forwards to port 22 of VM one/,
    )
    refused(
      await post('/api/vms/one/forwards', { hostPort: 8080, guestPort: 22 }),
      409,
      /port 8080 of 127.0.0.1 is taken by vmd itself/,
    )
    const program = host.spawn([process.execPath, '-e', LISTEN, '2223'], { stdio: 'ignore' })
    try {
      const taken = { hostPort: 2223, guestPort: 22 }
      await until('the port is in use', async () => (await listening(2223)) !== '')
      refused(
        await post('/api/vms/one/forwards', taken),
        409,
        /port 2223 of 127.0.0.1 is taken by \S+ \(process \d+\)/,
      )
    } finally {
      program.kill('SIGKILL')
    }
    for (const wrong of [
      { hostPort: 0 },
      { guestPort: 70_000 },
      { hostAddress: '0.0.0.0' },
      { protocol: 'udp' },
    ])
      refused(await post('/api/vms/one/forwards', { ...forward, ...wrong }), 400, /must/)
    refused(await post('/api/vms/nobody/forwards', forward), 404, /there is no VM nobody/)
    refused(await remove('/api/vms/one/forwards/99'), 404, /no forward of port 99/)
    refused(await remove('/api/vms/one/forwards/x'), 400, /port must be a number/)
  })

  test('after a power cut the forward exists and the guest has the same address', async () => {
    const address = (await rows('&id=one'))[0]?.address
    assert.match(address ?? '', /^10\.83\.(3[2-9]|[4-9]\d|\d{3})\./)
    await host.killVmd('SIGKILL')
    await host.startVmd()
    assert.equal(await greeting(2222), 'SSH-')
    await host.powerCut()
    await host.powerOn()
    assert.deepEqual(((await get('/api/vms/one/forwards')).body as object[]).length, 1)
    // Without reservations the first VM to start would have got the first address of the range.
    assert.equal((await post('/api/vms', { id: 'early', memoryMiB: 128 })).status, 201)
    assertSaid(await patch('/api/vms/power/early', 'on'), 200, 'powered on')
    assert.equal((await get('/api/vms/early/ipaddress?wait=100')).status, 200)
    assertSaid(await patch('/api/vms/power/early', 'off'), 200, 'powered off')
    assertSaid(await patch('/api/vms/power/one', 'on'), 200, 'powered on')
    assertSaid(await get('/api/vms/one/ipaddress?wait=100'), 200, address ?? '')
    await until('SSH answers', async () => (await greeting(2222)) === 'SSH-', BOOT_MS)
    assert.equal((await fixed()).length, 2)
    assertSaid(await patch('/api/vms/power/one', 'off'), 200, 'powered off')
    for (const id of ['one', 'early']) assert.equal((await remove(`/api/vms/${id}`)).status, 204)
    await until('the port is closed', async () => (await listening(2222)) === '')
    assert.deepEqual(await fixed(), [])
  })
})
