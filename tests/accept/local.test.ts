// Goal: the local API matches its specification, word for word, by curl on a host with real guests. Method: every operation as
// the specification writes it, in the order a user would try them, with body and status of success and of every error of the
// contract. The test does not import our code: only curl, HTTP and the guest.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { startEngine } from '../guest/engine.ts'
import { assertSaid, BASE, curlOn, refused } from './curl.ts'

const skip = reasonToSkip('host', 'small') ?? false
const BOOT_MS = 120_000

let dir: string
let host: LabHost

const { curl, get, post, patch, remove } = curlOn(() => host)

async function untilAddress(id: string): Promise<string> {
  return until(
    `${id} has an address`,
    async () => {
      const { status, body } = await get(`/api/vms/${id}/ipaddress`)
      return status === 200 && (body as { message: string }).message
    },
    BOOT_MS,
  )
}

/** The output of a command in the guest, through its agent, without our code. */
async function inGuest(id: string, script: string): Promise<string> {
  const agent = async (command: object) => {
    const words = ['virsh', '-q', 'qemu-agent-command', `local-${id}`, JSON.stringify(command)]
    return (JSON.parse((await host.run(words)).stdout || '{}') as { return?: AgentAnswer }).return
  }
  const started = await agent({
    execute: 'guest-exec',
    arguments: { path: '/bin/sh', arg: ['-c', script], 'capture-output': true },
  })
  if (started?.pid === undefined) return ''
  const done = await until(
    'the command has ended',
    async () => {
      const status = await agent({ execute: 'guest-exec-status', arguments: { pid: started.pid } })
      return status?.exited === true && status
    },
    BOOT_MS,
  )
  return Buffer.from(done['out-data'] ?? '', 'base64').toString()
}

interface AgentAnswer {
  readonly pid?: number
  readonly exited?: boolean
  readonly 'out-data'?: string
}

suite('the local API, by curl', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'local-'))
    host = await startHost({ dir: join(dir, 'host') })
    await host.startVmd()
  })
  after(async () => {
    await host[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  test('without a template a VM cannot be created, and the error says how to get one', async () => {
    refused(await post('/api/vms', { id: 'vm-1' }), 503, /template default not found/)
    await host.killVmd('SIGTERM')
    {
      await using engine = await startEngine(host)
      await engine.importTemplate('default', await guestImage('small'))
    }
    await host.startVmd()
  })

  test('1: a VM is created from the default template with only an id', async () => {
    const made = await post('/api/vms', { id: 'vm-1' })
    assert.equal(made.status, 201, made.text)
    assert.deepEqual(made.body, { id: 'vm-1', name: 'vm-1', tag: '' })
    const again = await post('/api/vms', { id: 'vm-1', name: 'vm-1', parentid: null })
    assert.deepEqual([again.status, again.body], [201, made.body])
    refused(await post('/api/vms', { id: 'vm-1', name: 'another' }), 409, /VM vm-1 already exists/)
  })

  test('1: bodies are parsed with any Content-Type, or none', async () => {
    const types = [
      '',
      'text/plain',
      'application/json',
      'application/x-www-form-urlencoded',
      'no/such',
    ]
    for (const [number, type] of types.entries()) {
      const id = `typed-${number}`
      const header = ['-H', type === '' ? 'Content-Type:' : `Content-Type: ${type}`]
      const made = await curl(...header, '-d', JSON.stringify({ id }), `${BASE}/api/vms`)
      assert.equal(made.status, 201, `${type}: ${made.text}`)
      assert.equal((await remove(`/api/vms/${id}`)).status, 204)
    }
  })

  test('1: an invalid request is 400 and says what was expected', async () => {
    const bodies = [
      '',
      'on',
      '{',
      '[]',
      '{}',
      '{"id":7}',
      '{"id":""}',
      '{"id":"a b"}',
      '{"id":"power"}',
    ]
    for (const body of [
      ...bodies,
      '{"id":"FOLDERS"}',
      `{"id":"${'x'.repeat(64)}"}`,
      '{"id":"x","name":"a\\nb"}',
    ]) {
      refused(await curl('-d', body, `${BASE}/api/vms`), 400, /must|JSON|required/)
    }
  })

  test('2: a VM is cloned, with a name and a tag', async () => {
    const clone = await post('/api/vms', {
      id: 'vm-2',
      parentid: 'vm-1',
      name: 'Zwei',
      tag: 'of one',
    })
    assert.deepEqual([clone.status, clone.body], [201, { id: 'vm-2', name: 'Zwei', tag: 'of one' }])
    refused(
      await post('/api/vms', { id: 'vm-3', parentid: 'nobody' }),
      404,
      /there is no VM nobody/,
    )
  })

  test('3: all VMs are listed by their ids', async () => {
    assert.deepEqual((await get('/api/vms')).body, ['vm-1', 'vm-2'])
  })

  test('4: one VM can be read only while it is powered on', async () => {
    const off = await get('/api/vms/vm-1')
    refused(off, 409, /vm-1 is powered off/)
    assert.equal((off.body as { state: string }).state, 'powered off')
    refused(await get('/api/vms/nobody'), 404, /there is no VM nobody/)
  })

  test('5 and 6: power is changed by a bare word, and read', async () => {
    assertSaid(await get('/api/vms/power/vm-1'), 200, 'powered off')
    assertSaid(await patch('/api/vms/power/vm-1', 'on'), 200, 'powered on')
    assertSaid(await get('/api/vms/power/vm-1'), 200, 'powered on')
    assert.deepEqual((await get('/api/vms/vm-1')).body, { id: 'vm-1', name: 'vm-1', tag: '' })
    refused(
      await patch('/api/vms/power/vm-1', 'fly'),
      400,
      /one of on, off, shutdown, suspend, pause, unpause/,
    )
    refused(await patch('/api/vms/power/nobody', 'on'), 404, /there is no VM nobody/)
    refused(await get('/api/vms/power/nobody'), 404, /there is no VM nobody/)
    const json = ['-X', 'PATCH', '-H', 'Content-Type: application/json', '-d', 'on']
    assertSaid(await curl(...json, `${BASE}/api/vms/power/vm-1`), 200, 'powered on')
    const none = ['-X', 'PATCH', '-H', 'Content-Type:', '-d', ' on\n']
    assertSaid(await curl(...none, `${BASE}/api/vms/power/vm-1`), 200, 'powered on')
  })

  test('7: the guest is reachable at the returned address', async () => {
    refused(await get('/api/vms/vm-2/ipaddress'), 409, /is off and has no address/)
    refused(await get('/api/vms/nobody/ipaddress'), 404, /there is no VM nobody/)
    const address = await untilAddress('vm-1')
    const reached = await until(
      'its SSH server answers',
      async () => {
        const { stdout } = await host.run(['bash', '-c', `head -c 4 < /dev/tcp/${address}/22`])
        return stdout === 'SSH-'
      },
      BOOT_MS,
    )
    assert.ok(reached)
  })

  test('8 to 12: folders are added to and removed from a running guest', async () => {
    const shared = join(dir, 'shared')
    await mkdir(shared)
    await writeFile(join(shared, 'hello'), 'from the host')
    const early = { guestPath: 'early', hostPath: shared, flags: 4 }
    const { status, body } = await post('/api/vms/vm-1/folders', early)
    assert.deepEqual(
      [status, { ...(body as object), message: '' }],
      [201, { ...early, message: '' }],
    )
    assert.match((body as { readonly message: string }).message, /folder sharing is off/)
    await remove('/api/vms/vm-1/folders/early')
    refused(await patch('/api/vms/vm-1/folders', 'false'), 400, /must be one of true/)
    assertSaid(await patch('/api/vms/vm-1/folders', 'true'), 200, 'shared folders enabled')
    assertSaid(await patch('/api/vms/vm-1/folders', 'true'), 200, 'shared folders enabled')
    const folder = { guestPath: 'docs', hostPath: shared, flags: 4 }
    const added = await post('/api/vms/vm-1/folders', folder)
    assert.deepEqual([added.status, added.body], [201, folder])
    assert.equal((await post('/api/vms/vm-1/folders', folder)).status, 201)
    refused(await post('/api/vms/vm-1/folders', { ...folder, flags: 0 }), 409, /already shares/)
    assert.deepEqual((await get('/api/vms/vm-1/folders')).body, ['docs'])
    assert.deepEqual((await get('/api/vms/vm-1/folders/docs')).body, folder)
    refused(await get('/api/vms/vm-1/folders/none'), 404, /no shared folder none/)
    for (const wrong of [
      { guestPath: 'a/b' },
      { flags: 5 },
      { hostPath: 'relative' },
      { hostPath: undefined },
    ]) {
      refused(
        await post('/api/vms/vm-1/folders', { ...folder, guestPath: 'x', ...wrong }),
        400,
        /must|required/,
      )
    }
    refused(
      await post('/api/vms/vm-1/folders', { ...folder, guestPath: 'x', hostPath: '/etc' }),
      403,
      /cannot be shared/,
    )
    refused(await post('/api/vms/nobody/folders', folder), 404, /there is no VM nobody/)
  })

  test('the file is visible in the guest, and again after suspend and resume', async () => {
    const seen = () =>
      until(
        'the guest reads it',
        async () => (await inGuest('vm-1', 'cat /mnt/shares/docs/hello')) === 'from the host',
        BOOT_MS,
      )
    await seen()
    assertSaid(await patch('/api/vms/power/vm-1', 'suspend'), 200, 'suspended')
    assertSaid(await patch('/api/vms/power/vm-1', 'on'), 200, 'powered on')
    await seen()
    assert.equal((await remove('/api/vms/vm-1/folders/docs')).status, 204)
    refused(await remove('/api/vms/vm-1/folders/docs'), 404, /no shared folder docs/)
    assert.deepEqual((await get('/api/vms/vm-1/folders')).body, [])
  })

  test('13: a VM is deleted while it is off, and its clone keeps its disk', async () => {
    refused(
      await remove('/api/vms/vm-1'),
      409,
      /is on; it can be deleted only when off or suspended/,
    )
    assertSaid(await patch('/api/vms/power/vm-1', 'shutdown'), 200, 'powered off')
    const gone = await curl('-X', 'DELETE', '-d', '{"id":"vm-1"}', `${BASE}/api/vms/vm-1`)
    assert.deepEqual([gone.status, gone.text], [204, ''])
    refused(await remove('/api/vms/vm-1'), 404, /there is no VM vm-1/)
    assertSaid(await patch('/api/vms/power/vm-2', 'on'), 200, 'powered on')
    await untilAddress('vm-2')
    assertSaid(await patch('/api/vms/power/vm-2', 'off'), 200, 'powered off')
    assert.equal((await remove('/api/vms/vm-2')).status, 204)
    assert.deepEqual((await get('/api/vms')).body, [])
  })

  test('an unknown path is 404, a wrong method 405, both in JSON', async () => {
    refused(await get('/api/nothing'), 404, /path not found/)
    refused(
      await curl('-X', 'PUT', `${BASE}/api/vms`),
      405,
      /method not allowed; allowed: POST, GET/,
    )
    refused(await get(`/api/vms/power/${'x'.repeat(300)}`), 400, /cannot be read/)
    refused(
      await curl('-d', `{"id":"${'x'.repeat(70_000)}"}`, `${BASE}/api/vms`),
      400,
      /cannot be read|must/,
    )
  })

  test('it listens on both loopback addresses and nowhere else', async () => {
    assert.equal((await curl('http://[::1]:8080/api/vms')).status, 200)
    assert.equal((await curl('http://localhost:8080/api/vms')).status, 200)
    const { stdout } = await host.run(['ss', '-Hltn', 'sport = :8080'])
    const places = stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/)[3] ?? '')
      .toSorted((a, b) => (a < b ? -1 : 1))
    assert.deepEqual(places, ['127.0.0.1:8080', '[::1]:8080'])
  })
})
