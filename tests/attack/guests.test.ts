// Threat: a guest is untrusted. Its agent reports addresses that are not its own, so that a port forward leads to the host
// itself, as root; or it stalls, and every VM of the host waits; and its packets request the host's credentials from the host's
// provider. Method: real guests whose agent is replaced by a hostile one (hostile-agent.sh). One lies 1,000 times; then it
// stalls, and twenty copies of it continue from its memory (guest-copies.ts), while the operations of others are timed.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, suite, test } from 'node:test'

import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { BASE, curlOn } from '../accept/curl.ts'
import { keepMemory, startCopy } from './guest-copies.ts'

const skip = reasonToSkip('host', 'small') ?? false
/** Generous: guests are emulated on few cores. */
const BOOT_MS = 180_000
const MEMORY_MIB = 96
const STALLED = 20
const LIES = 1000
const LIES_AT_ONCE = 50
/** The maximum time of another operation while guests stall. */
const BOUND_MS = 5000
const ROUNDS = 5
/** So many answers prove an agent: vmd keeps a line for it. */
const ENOUGH_ANSWERS = 3
const NO_ACCOUNT = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
/** The host on the external network, an external server, and the metadata address of providers. */
const UPLINK = '198.51.100.1'
const WORLD = '203.0.113.5'
const METADATA = ['169.254.169.254', '100.100.100.200']
const LISTEN = `const server = require('node:net').createServer((socket) => { console.log('reached'); socket.destroy() })
server.listen(+process.argv[1], '0.0.0.0', () => console.log('listens'))`

let dir: string
let host: LabHost
const stack = new AsyncDisposableStack()
const local = curlOn(() => host)
const { get, post, patch, remove } = local
const sh = (script: string, input?: string) => ({ path: '/bin/sh', args: ['-c', script], input })

/** An external network, with an external server and the metadata service of a provider behind the host's gateway. */
async function layWorld(): Promise<void> {
  const script = `set -e
    ip netns add world
    ip link add up0 type veth peer name eth0 netns world
    ip address add ${UPLINK}/24 dev up0; ip link set up0 up
    ip -n world address add 198.51.100.2/24 dev eth0; ip -n world link set eth0 up; ip -n world link set lo up
    for a in ${WORLD} ${METADATA.join(' ')}; do ip -n world address add $a/32 dev lo; done
    ip route add default via 198.51.100.2`
  const { code, stderr } = await host.run(['sh', '-c', script])
  assert.equal(code, 0, stderr)
  await listen(80, 'ip', 'netns', 'exec', 'world')
}

/** A server on all addresses; counts its clients. */
async function listen(port: number, ...from: readonly string[]): Promise<() => number> {
  const words = [...from, process.execPath, '-e', LISTEN, String(port)]
  const child = host.spawn(words, { stdio: ['ignore', 'pipe', 'ignore'] })
  stack.defer(() => void child.kill('SIGKILL'))
  assert.ok(child.stdout)
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  await until('the server listens', async () => lines.length > 0, BOOT_MS)
  return () => lines.length - 1
}

async function start(id: string): Promise<void> {
  const made = await post('/api/vms', { id, memoryMiB: MEMORY_MIB })
  assert.equal(made.status, 201, made.text)
  assert.equal((await patch(`/api/vms/power/${id}`, 'on')).status, 200)
}

/** Its agent is asked once the guest is up: one that stalls while its guest starts counts as slow for minutes. */
async function untilUp(id: string): Promise<void> {
  const isUp = async () => (await get(`/api/vms/${id}/serial`)).text.includes('guest up in')
  await until(`${id} is up`, isUp, BOOT_MS)
  for (let answers = 0; answers < ENOUGH_ANSWERS; answers++) {
    const answersNow = async () => (await post(`/api/vms/${id}/exec`, sh('true'))).status === 200
    await until(`${id} answers`, answersNow, BOOT_MS)
  }
}

const agent = async (id: string, execute: string) =>
  (
    await host.run([
      'virsh',
      '-q',
      'qemu-agent-command',
      `local-${id}`,
      JSON.stringify({ execute }),
    ])
  ).code

/** Addresses that are not the guest's: the first of each reply is one at which this host itself would answer. */
function makeLies(other: string): readonly (readonly string[])[] {
  // Three, so that both forwards are tested with each of them.
  const own = ['127.0.0.1', UPLINK, '10.83.0.1']
  const far = (n: number) => [
    `127.${n % 256}.3.${1 + (n % 254)}`,
    `198.51.100.${1 + (n % 254)}`,
    `224.0.${n % 256}.1`,
    `10.84.${n % 256}.40`,
    `169.254.${n % 256}.254`,
    `192.168.${n % 256}.1`,
    `10.82.${n % 256}.9`,
    other,
    WORLD,
    '255.255.255.255',
    '10.83.255.255',
    `::ffff:127.0.0.${1 + (n % 254)}`,
    `fe80::${n.toString(16)}`,
    `0127.0.0.${1 + (n % 254)}`,
    `2130706433`,
    'localhost',
  ]
  const all = Array.from({ length: LIES }, (_, n) => far(n)[n % far(n).length] ?? '')
  return Array.from({ length: LIES / LIES_AT_ONCE }, (_, n) => [
    own[n % own.length] ?? '',
    ...all.slice(n * LIES_AT_ONCE + 1, (n + 1) * LIES_AT_ONCE),
  ])
}

/** Turns each line of addresses into an agent's reply for a guest that has them on its card. */
const asReplies = (mac: string) =>
  [
    's/[^ ]\\+/{"ip-address-type":"ipv4","ip-address":"&","prefix":8}/g',
    's/ /,/g',
    `s/^/{"return":[{"name":"eth0","hardware-address":"${mac}","ip-addresses":[/`,
    's/$/]}]}/',
  ].join('; ')

/** Busy workers of libvirtd. */
async function busyWorkers(): Promise<number> {
  const { stdout } = await host.run(['virt-admin', 'srv-threadpool-info', 'libvirtd'])
  const figure = (name: string) => Number(new RegExp(`${name}\\s*:\\s*(\\d+)`).exec(stdout)?.[1])
  const busy = figure('nWorkers') - figure('freeWorkers')
  assert.ok(Number.isInteger(busy), stdout)
  return busy
}

/** Repeatedly asks all these guests for data that only their agents have, from one process. */
async function stallAll(ids: readonly string[]) {
  const each = (id: string) => [
    [`url = "${BASE}/api/vms/${id}/ipaddress"`],
    [`url = "${BASE}/api/vms/${id}/exec"`, 'data = "{\\"path\\":\\"/bin/true\\"}"'],
    [`url = "${BASE}/api/vms/power/${id}"`, 'request = "PATCH"', 'data = "pause"'],
    [`url = "${BASE}/api/vms/power/${id}"`, 'request = "PATCH"', 'data = "unpause"'],
  ]
  const common = ['silent', 'output = "/dev/null"', 'write-out = "%{http_code}\\n"']
  const file = join(dir, 'stall.conf')
  const requests = ids.flatMap(each).map((lines) => [...lines, ...common].join('\n'))
  await writeFile(file, requests.join('\nnext\n'))
  const loop = `while :; do curl --parallel --parallel-max 80 -K ${file}; done`
  const child = host.spawn(['bash', '-c', loop], { stdio: ['ignore', 'pipe', 'ignore'] })
  const answers: string[] = []
  assert.ok(child.stdout)
  createInterface({ input: child.stdout }).on('line', (line) => answers.push(line))
  return { answers: () => [...answers], [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

/** A guest that is asked to shut down may outlive the test. */
const notNeeded = () => undefined

/** The duration and the response; one without a response counts with its time. */
async function timed(ask: () => Promise<{ readonly status: number; readonly text: string }>) {
  const began = performance.now()
  const { status, text } = await ask()
  return { ms: performance.now() - began, status, text }
}

suite('guests that lie, stall and connect outwards', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'guests-'))
    stack.defer(() => rm(dir, { recursive: true, force: true }))
    host = stack.use(await startHost({ dir: join(dir, 'host') }))
    await layWorld()
    await host.startVmd(['--shutdown-timeout', '10'])
    const made = await post('/api/templates?default', { file: await guestImage('small') })
    assert.equal(made.status, 201, made.text)
    await Promise.all(['liar', 'fine'].map(start))
    await Promise.all(['liar', 'fine'].map(untilUp))
  })
  after(() => stack.disposeAsync())

  test('a guest reaches external servers, and no metadata of its host’s provider', async () => {
    // What answers may take long on a busy machine; what is dropped is waited for in vain.
    const tries = `try() { nc -w $2 $1 80 -e true 2>/dev/null && echo $1; }; try ${WORLD} 20`
    const script = `${tries}; for a in ${METADATA.join(' ')}; do try $a 3; done; true`
    const { body, text } = await post('/api/vms/liar/exec', sh(script))
    const { stdout } = body as { stdout: string }
    assert.equal(stdout, `${WORLD}\n`, text)
    const open = await host.run(['bash', '-c', `: </dev/tcp/${METADATA[0]}/80`])
    assert.equal(open.code, 0, 'the host itself reaches it')
  })

  test('of 1,000 addresses that a guest claims none is returned, and no forward reaches one', async (t) => {
    const { stdout } = await host.run(['virsh', '-q', 'domiflist', 'local-liar'])
    const mac = stdout.trim().split(/\s+/).at(-1) ?? ''
    const { message: other } = (await get('/api/vms/fine/ipaddress')).body as { message: string }
    assert.match(other, /^10\.83\./)
    const lies = makeLies(other)
    const reached = await listen(18_999)
    for (const [hostPort, guestPort] of [
      [18_080, 8080],
      [18_081, 18_999],
    ])
      assert.equal((await post('/api/vms/liar/forwards', { hostPort, guestPort })).status, 201)
    const program = await readFile(join(import.meta.dirname, 'hostile-agent.sh'), 'utf8')
    const lines = lies.map((each) => `${each.join(' ')}\n`).join('')
    const write = `sed '${asReplies(mac)}' > /tmp/lies; wc -l < /tmp/lies`
    const put = await post('/api/vms/liar/exec', sh(write, lines))
    assert.equal(put.status, 200, put.text)
    assert.equal((put.body as { stdout: string }).stdout.trim(), String(lies.length), put.text)
    const begin = 'cat > /tmp/agent.sh; setsid sh /tmp/agent.sh </dev/null >/dev/null 2>&1 &'
    assert.equal((await post('/api/vms/liar/exec', sh(begin, program))).status, 200)
    // A command that only the hostile agent has.
    const isThere = async () => (await agent('liar', 'guest-made-up')) === 0
    await until('the hostile agent runs', isThere, BOOT_MS)

    const reported: string[] = []
    for (const _ of lies) {
      const { status, text } = await get('/api/vms/liar/ipaddress')
      if (status !== 409) reported.push(text)
    }
    assert.deepEqual(reported, [])
    const open: string[] = []
    for (const n of lies.keys()) {
      const port = n % 2 === 0 ? 18_080 : 18_081
      const words = ['-H', 'Host: 127.0.0.1:8080', `http://127.0.0.1:${port}/api/vms`]
      const { stdout: code } = await host.run([
        ...NO_ACCOUNT,
        'curl',
        '-s',
        '-m',
        '10',
        '-o',
        '/dev/null',
        '-w',
        '%{http_code}',
        ...words,
      ])
      if (code !== '000') open.push(`${port}: ${code}`)
    }
    assert.deepEqual(open, [], 'another user sends a request to vmd through its own forward')
    assert.equal(reached(), 0)
    t.diagnostic(`${LIES} addresses: 0 returned, 0 reached`)
  })

  test('twenty guests whose agents stall: every other operation within 5 s, and no worker of libvirtd lost', async (t) => {
    assert.equal(await agent('liar', 'be-silent'), 0)
    assert.equal((await patch('/api/vms/power/liar', 'suspend')).status, 200)
    const memory = await keepMemory(host, 'liar')
    const ids = Array.from({ length: STALLED }, (_, n) => `st${String(n).padStart(2, '0')}`)
    const left = [...ids]
    const startAll = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop())
        await startCopy(host, local, memory, id, MEMORY_MIB)
    }
    await Promise.all([startAll(), startAll()])
    assert.equal(await agent('st07', 'guest-ping'), 0, 'the copies run')
    const before = await busyWorkers()

    for (const id of ids.slice(0, 2))
      void patch(`/api/vms/power/${id}`, 'shutdown').catch(notNeeded)
    const attack = await stallAll(ids)
    const slowest = new Map<string, number>()
    const measure = async (name: string, expected: number, ask: Parameters<typeof timed>[0]) => {
      const { ms, status, text } = await timed(ask)
      assert.equal(status, expected, `${name}: ${text}`)
      slowest.set(name, Math.max(slowest.get(name) ?? 0, ms))
    }
    // The first calls have begun to wait before others are timed.
    await until('the guests stall', async () => attack.answers().length > 0, BOOT_MS)
    for (let round = 0; round < ROUNDS; round++) {
      await measure('list', 200, () => get('/api/vms?view=full'))
      await measure('exec in a guest that answers', 200, () =>
        post('/api/vms/fine/exec', sh('true')),
      )
      await measure('its address', 200, () => get('/api/vms/fine/ipaddress'))
      await measure('create', 201, () => post('/api/vms', { id: 'other', memoryMiB: MEMORY_MIB }))
      await measure('delete', 204, () => remove('/api/vms/other'))
    }
    const both = async () => ['503', '409'].every((status) => attack.answers().includes(status))
    await until('calls to stalled guests end in both ways', both, BOOT_MS)
    const answers = attack.answers()
    attack[Symbol.dispose]()
    const figures = [...slowest].map(([name, ms]) => `${name} ${Math.round(ms)} ms`).join(', ')
    t.diagnostic(`slowest: ${figures}; beside ${answers.length} calls to stalled guests`)
    for (const [name, ms] of slowest) assert.ok(ms <= BOUND_MS, `${name} took ${ms} ms`)
    await until(
      'all workers of libvirtd are idle again',
      async () => (await busyWorkers()) <= before,
      6 * BOUND_MS,
    )
  })
})
