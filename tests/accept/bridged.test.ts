// Goal: a VM joins a bridge of its host if requested and allowed by the operator of vmd, and the firewall stays intact. Method: a
// bridge on a lab host with its own network behind it, a DHCP server there, and a real guest.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

import { assertSaid, curlOn, refused } from './curl.ts'
import { inGuest } from './in-guest.ts'

const skip = reasonToSkip('host', 'small') ?? false
const BOOT_MS = 120_000
const APPS = join(import.meta.dirname, '../../apps')
/** The host on the bridge, and the machine behind it that assigns addresses. */
const HOST = '192.168.77.1'
const ROUTER = '192.168.77.2'
const LEASE = /^192\.168\.77\.1[0-4]\d$/

interface Row {
  readonly id: string
  readonly bridge?: string
  readonly address?: string
}

let dir: string
let host: LabHost
const { get, post, patch, remove } = curlOn(() => host)

const row = async (id: string) => ((await get(`/api/vms?view=full&id=${id}`)).body as Row[])[0]
const hint = (answer: { readonly body: unknown }) => (answer.body as { hint: string }).hint
const skerry = (...words: readonly string[]) =>
  host.run([process.execPath, join(APPS, 'cli/src/main.ts'), ...words])

/** An office network: a switch that the host is connected to, and a router with DHCP. */
async function layNetwork(): Promise<void> {
  const script = `set -e
    ip link add br0 type bridge; ip address add ${HOST}/24 dev br0; ip link set br0 up
    ip netns add office
    ip link add port1 type veth peer name eth0 netns office; ip link set port1 master br0 up
    ip -n office address add ${ROUTER}/24 dev eth0; ip -n office link set eth0 up; ip -n office link set lo up
    ip netns exec office dnsmasq --conf-file=/dev/null --user=root --port=0 --interface=eth0 --bind-interfaces \
      --no-ping --dhcp-range=192.168.77.100,192.168.77.149,1h --dhcp-leasefile=/run/office.leases --pid-file`
  const { code, stderr } = await host.run(['sh', '-c', script])
  assert.equal(code, 0, stderr)
}

/** The banner of the guest's SSH server, as the host or a machine behind the bridge reads it. */
const greeting = async (address: string, ...from: readonly string[]) =>
  (await host.run([...from, 'bash', '-c', `head -c 4 < /dev/tcp/${address}/22`])).stdout

/** The addresses that the guest can connect to. A rejected connection ends at once, an accepted one may wait for a processor. */
async function connections(id: string, places: readonly string[]): Promise<readonly string[]> {
  const tries = places.map((place) => {
    const [address, port] = place.split(':')
    return `nc -w 20 ${address} ${port} -e true 2>/dev/null && echo ${place}`
  })
  const lines = await inGuest(host, id, `${tries.join('\n')}\necho end`, BOOT_MS)
  return lines.trim().split('\n').slice(0, -1)
}

/** A program on the host that listens on one of its addresses. */
async function listenAt(address: string, port: number, ...from: readonly string[]) {
  const script = "require('node:net').createServer().listen(+process.argv[2], process.argv[1])"
  const words = [...from, process.execPath, '-e', script, address, String(port)]
  const child = host.spawn(words, { stdio: 'ignore' })
  const listed = async () => (await host.run([...from, 'ss', '-Hltn', `sport = :${port}`])).stdout
  await until('it listens', async () => (await listed()) !== '')
  return { [Symbol.dispose]: () => void child.kill('SIGKILL') }
}

suite('VMs on a bridge of the host', { skip }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'bridged-'))
    host = await startHost({ dir: join(dir, 'host') })
    await layNetwork()
    await host.startVmd()
    const file = await guestImage('small')
    assert.equal((await post('/api/templates?default', { file })).status, 201)
  })
  after(async () => {
    await host[Symbol.asyncDispose]()
    await rm(dir, { recursive: true, force: true })
  })

  test('a bridge that is not allowed, does not exist or is not for guests is rejected with a message', async () => {
    const ask = (bridge: unknown) => post('/api/vms', { id: 'lan', memoryMiB: 128, bridge })
    const unasked = await ask('br0')
    refused(unasked, 409, /bridge br0 is not allowed/)
    assert.match(hint(unasked), /skerry vmd --bridge br0$/)
    for (const name of ['br 0', '../br0', '-br0', 'b'.repeat(16), 'br0;id'])
      refused(await ask(name), 400, /bridge name must match/)
    refused(await ask(7), 400, /bridge/)

    const other = `<network><name>other</name><bridge name="virbr7"/><ip address="10.99.0.1" netmask="255.255.255.0"/></network>`
    await host.run([
      'sh',
      '-c',
      `echo '${other}' > /run/other.xml; virsh -q net-define /run/other.xml`,
    ])
    await host.killVmd('SIGTERM')
    const allowed = ['br0', 'gone0', 'virbr7', 'skerry0']
    await host.startVmd(allowed.flatMap((name) => ['--bridge', name]))
    for (const name of ['virbr7', 'skerry0'])
      refused(await ask(name), 400, /belongs to a libvirt network/)
    const gone = await ask('gone0')
    refused(gone, 409, /this machine has no bridge gone0/)
    assert.match(hint(gone), /ip link add gone0 type bridge/)
    assert.deepEqual((await get('/api/vms')).body, [])
    const vmd = [process.execPath, join(APPS, 'vmd/src/main.ts'), '--bridge', 'a b']
    const started = await host.run(vmd)
    assert.match(
      `${started.code} ${started.stderr}`,
      /^2 skerry vmd: --bridge: a bridge name must match/,
    )
  })

  test('a guest gets its address on the bridge, and is reachable at the address that operation 7 returns', async () => {
    const made = await skerry('create', 'lan', '--memory', '128M', '--bridge', 'br0', '--start')
    assert.equal(made.code, 0, made.stderr)
    const waited = await get('/api/vms/lan/ipaddress?wait=100')
    const address = (waited.body as { message: string }).message
    assert.match(address, LEASE, waited.text)
    await until('SSH answers the host', async () => (await greeting(address)) === 'SSH-', BOOT_MS)
    assert.equal(await greeting(address, 'ip', 'netns', 'exec', 'office'), 'SSH-')
    assert.match((await host.run(['cat', '/run/office.leases'])).stdout, new RegExp(address))
    const { bridge, address: listed } = (await row('lan')) ?? {}
    assert.deepEqual([bridge, listed], ['br0', address])
    refused(await patch('/api/vms/lan', { bridge: null }), 409, /it must be off/)
  })

  test('it reaches others on the bridge, and nothing of vmd', async () => {
    const { stdout } = await host.run(['ss', '-Hltn', 'sport = :8080'])
    const sockets = stdout.trim().split('\n')
    const places = sockets.map((line) => line.split(/\s+/)[3] ?? '')
    assert.deepEqual(new Set(places), new Set(['127.0.0.1:8080', '[::1]:8080']))
    assert.equal(places.length, 2)
    using _ = await listenAt(ROUTER, 7007, 'ip', 'netns', 'exec', 'office')
    // Uses the host as a gateway to its other addresses, and to its loopback.
    await inGuest(host, 'lan', `route add -net 10.83.0.0 netmask 255.255.0.0 gw ${HOST}`)
    const tried = [`${ROUTER}:7007`, `${HOST}:8080`, '10.83.0.1:8080', '127.0.0.1:8080']
    assert.deepEqual(await connections('lan', tried), [`${ROUTER}:7007`])
  })

  test('without an agent, its address is the one that the host has observed since the start', async () => {
    const { address } = (await row('lan')) ?? {}
    await inGuest(host, 'lan', '(sleep 1; killall qemu-ga) >/dev/null 2>&1 &')
    const agent = ['virsh', '-q', 'qemu-agent-command', 'local-lan', '{"execute":"guest-ping"}']
    await until('the agent has stopped', async () => (await host.run(agent)).code !== 0, 30_000)
    assertSaid(await get('/api/vms/lan/ipaddress'), 200, address ?? '')

    assertSaid(await patch('/api/vms/power/lan', 'off'), 200, 'powered off')
    assert.match((await host.run(['ip', 'neigh', 'show', 'dev', 'br0'])).stdout, /lladdr 52:/)
    assertSaid(await patch('/api/vms/power/lan', 'on'), 200, 'powered on')
    const early = await get('/api/vms/lan/ipaddress')
    refused(
      early,
      409,
      /agent does not answer, and this machine has not seen its address on the bridge br0/,
    )
    assertSaid(await patch('/api/vms/power/lan', 'off'), 200, 'powered off')
  })

  test('a clone joins the bridge of its parent, unless the request says otherwise', async () => {
    for (const [id, bridge] of [
      ['follows', undefined],
      ['stays', null],
    ] as const) {
      const body = { id, parentid: 'lan', ...(bridge === null && { bridge }) }
      for (const _ of ['made', 'asked again'])
        assert.equal((await post('/api/vms', body)).status, 201)
      assert.equal((await row(id))?.bridge, bridge === null ? undefined : 'br0')
      assert.equal((await remove(`/api/vms/${id}`)).status, 204)
    }
  })

  test('a VM whose bridge is no longer allowed does not start, and leaves the bridge on request', async () => {
    await host.killVmd('SIGTERM')
    await host.startVmd([])
    refused(await patch('/api/vms/power/lan', 'on'), 409, /bridge br0 is not allowed/)
    assert.equal((await row('lan'))?.bridge, 'br0')
    const both = await skerry('set', 'lan', '--nat', '--bridge', 'br0')
    assert.deepEqual([both.code, both.stderr], [2, 'skerry: give --bridge or --nat, not both\n'])
    const set = await skerry('set', 'lan', '--nat')
    assert.equal(set.code, 0, set.stderr)
    assert.equal((await row('lan'))?.bridge, undefined)
  })

  test('a guest behind the firewall cannot reach the host at its address on the bridge', async () => {
    assertSaid(await patch('/api/vms/power/lan', 'on'), 200, 'powered on')
    const waited = await get('/api/vms/lan/ipaddress?wait=100')
    assert.match((waited.body as { message: string }).message, /^10\.83\./)
    using listeners = new DisposableStack()
    listeners.use(await listenAt(HOST, 7008))
    listeners.use(await listenAt(ROUTER, 7007, 'ip', 'netns', 'exec', 'office'))
    const places = [`${HOST}:8080`, `${HOST}:7008`, '10.83.0.1:7008', `${ROUTER}:7007`]
    await until(
      'its agent answers',
      async () => (await post('/api/vms/lan/exec', { path: '/bin/true' })).status === 200,
      BOOT_MS,
    )
    assert.deepEqual(await connections('lan', places), [`${ROUTER}:7007`])
    assertSaid(await patch('/api/vms/power/lan', 'off'), 200, 'powered off')
  })
})
