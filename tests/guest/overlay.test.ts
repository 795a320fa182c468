// Goal: a host's VMs are ports of its Open vSwitch, and its way out leads past everything of the site. Method: a lab host with a real
// Open vSwitch whose controller finds no network server: what a host does by itself.
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { guestImage, reasonToSkip, startHost, startIssuer, until, type LabHost } from '@skerry/lab'
import type { Nic } from '@skerry/vm'

import { startEngine, type RemoteEngine } from './engine.ts'

const skip = reasonToSkip('host', 'network', 'small') ?? false
const owner = 'cloud'
/** The engine looks at Open vSwitch every 5 s, and a controller retries as seldom. */
const LOOK_MS = 60_000
const zone = {
  fencingToken: '7',
  remote: 'ssl:127.0.0.1:6642',
  systemId: '7b0f0dc1-0000-4000-8000-000000000001',
  tunnelAddress: '127.0.0.1',
  mtu: 1442,
}
const nic = (index: number, more: Partial<Nic> = {}): Nic => ({
  index,
  id: `7b0f0dc1-0000-4000-8000-00000000001${index}`,
  mac: `52:54:00:00:00:0${index}`,
  mtu: 1400 + index,
  connected: true,
  network: '7b0f0dc1-0000-4000-8000-0000000000ff',
  ...more,
})

/** The site: 192.0.2.0/24 with a gateway, behind which is 203.0.113.9. */
const site = [
  'ip netns add outside',
  'ip link add site type veth peer name eth0 netns outside',
  'ip address add 192.0.2.7/24 dev site',
  'ip link set site up',
  'ip -n outside address add 192.0.2.1/24 dev eth0',
  'ip -n outside link set eth0 up',
  'ip -n outside link set lo up',
  'ip -n outside address add 203.0.113.9/32 dev lo',
  'ip route add 203.0.113.0/24 via 192.0.2.1',
]

interface Place extends AsyncDisposable {
  readonly host: LabHost
  engine: RemoteEngine
}
let started: Place | undefined
before(async () => {
  if (skip !== false) return
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'overlay-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const host = stack.use(await startHost({ dir: join(dir, 'host'), network: true }))
  for (const command of site) {
    const { code, stderr } = await host.run(command.split(' '))
    assert.equal(code, 0, stderr)
  }
  const engine = await startEngine(host)
  await engine.importTemplate('default', await guestImage('small'))
  const all = stack.move()
  started = {
    host,
    engine,
    async [Symbol.asyncDispose]() {
      await started?.engine[Symbol.asyncDispose]()
      await all.disposeAsync()
    },
  }
})
after(() => started?.[Symbol.asyncDispose]())
const place = (): Place => started ?? assert.fail('the host has started')

async function run(...command: string[]): Promise<string> {
  const { code, stdout, stderr } = await place().host.run(command)
  assert.equal(code, 0, `${command.join(' ')}: ${stderr}`)
  return stdout.trim()
}

/** The devices on br-int, by the id of the card. */
async function pluggedPorts(): Promise<Map<string, string>> {
  const text = await run(
    'ovs-vsctl',
    '--format=json',
    '--columns=name,external_ids',
    'list',
    'Interface',
  )
  const { data } = JSON.parse(text) as { data: [string, ['map', [string, string][]]][] }
  const ports = data.map(([name, [, ids]]) => [new Map(ids).get('iface-id') ?? '', name] as const)
  return new Map(ports.filter(([id]) => id !== ''))
}

test('a host that joins its zone has the bridge of VMs and a way out', { skip }, async () => {
  const { engine } = place()
  await engine.joinOverlay(zone)
  assert.deepEqual((await run('ovs-vsctl', 'list-br')).split('\n'), ['br-int', 'sk-out'])
  assert.equal(await run('ovs-vsctl', 'get-fail-mode', 'br-int'), 'secure')
  assert.match(await run('ip', '-o', 'address', 'show', 'sk-out'), / 100\.64\.0\.1\/16 /)
  assert.equal(await run('cat', '/sys/class/net/sk-out/address'), '02:53:6b:00:00:01')
  assert.match(await run('iptables', '-t', 'nat', '-S'), /-A SKERRY_OUTBOUND -j MASQUERADE/)
  await until('the reason is logged', async () =>
    /ovn-controller is not connected to ssl:127\.0\.0\.1:6642/.test(engine.log()),
  )
})

test(
  'with a certificate its controller is connected to its network server, and to no other',
  { skip },
  async () => {
    const { host } = place()
    await using servers = await startIssuer('network')
    await using strangers = await startIssuer('strangers')
    await using hosts = await startIssuer('overlay')
    const directory = join(host.dir, 'skerry/cloud/overlay')
    const useIssuer = async (name: string, issuers: string) => {
      const { key, cert } = await hosts.issue('URI:skerry://lab/host/h1')
      const files = { 'key.pem': key, 'certificate.pem': cert, 'issuers.pem': issuers }
      await mkdir(join(directory, name))
      for (const [file, text] of Object.entries(files)) {
        await writeFile(join(directory, name, file), text)
      }
      await writeFile(join(directory, 'current'), name)
      const isUsed = async () =>
        (await run('ovs-vsctl', 'get-ssl')).includes(`/overlay/${name}/key.pem`)
      await until(`certificate ${name} is used`, isUsed, LOOK_MS, 100)
    }
    const wasConnected = async () => {
      const zoneFile = await readFile(join(directory, 'zone.json'), 'utf8')
      return (JSON.parse(zoneFile) as { connected: boolean }).connected
    }
    await useIssuer('1', strangers.cert)
    await startSouthbound({
      ...(await servers.issue('URI:skerry://lab/network/n1')),
      ca: hosts.cert,
    })
    const log = join(host.dir, 'log/ovn-controller.log')
    const isRefused = async () => /certificate verify failed/.test(await readFile(log, 'utf8'))
    await until('the controller refuses the server', isRefused, LOOK_MS, 100)
    assert.equal(await wasConnected(), false)
    await useIssuer('2', servers.cert)
    await until('the controller is connected', wasConnected, LOOK_MS, 100)
  },
)

/** A southbound database at the address of the zone, without anything in it. */
async function startSouthbound(tls: { key: string; cert: string; ca: string }): Promise<void> {
  const at = (name: string) => join(place().host.dir, `southbound.${name}`)
  for (const [name, text] of Object.entries(tls)) await writeFile(at(name), text)
  await run('ovsdb-tool', 'create', at('db'), '/usr/share/ovn/ovn-sb.ovsschema')
  await run(
    'ovsdb-server',
    at('db'),
    '--remote=punix:/run/ovn/sb.sock',
    '--remote=pssl:6642:127.0.0.1',
    `--private-key=${at('key')}`,
    `--certificate=${at('cert')}`,
    `--ca-cert=${at('ca')}`,
    '--pidfile=/run/ovn/sb.pid',
    '--unixctl=/run/ovn/sb.ctl',
    '--detach',
    '--no-chdir',
    '-vconsole:off',
    '-vsyslog:off',
  )
  await run('ovn-sbctl', '--db=unix:/run/ovn/sb.sock', 'init')
}

test(
  'its cards are ports with their MTU, and a link changes while the VM runs',
  { skip },
  async () => {
    const { engine } = place()
    const nics = [nic(0), nic(1, { connected: false })]
    await engine.createVm({ id: 'one', owner, memoryMiB: 128, nics })
    await engine.changePower('one', 'on', { owner })
    const ports = await pluggedPorts()
    const [first = '', second = ''] = nics.map(({ id }) => ports.get(id))
    assert.equal(await run('cat', `/sys/class/net/${first}/mtu`), '1400')
    assert.equal(await run('cat', `/sys/class/net/${second}/mtu`), '1401')
    assert.equal(await run('ovs-vsctl', 'port-to-br', first), 'br-int')
    const link = (device: string) => run('virsh', '-q', 'domif-getlink', 'cloud-one', device)
    assert.match(await link(second), / down$/)
    await engine.changeNics('one', { org: 'blue', nics: [nic(0, { connected: false }), nic(1)] })
    assert.match(await link(first), / down$/)
    assert.match(await link(second), / up$/)
    const next = await run('virsh', '-q', 'dumpxml', '--inactive', 'cloud-one')
    assert.match(next, /link state='down'[^]*link state='up'/, 'also at its next start')
  },
)

/** Refused at once, answered, or neither. */
async function tryFrom(address: string, port: number, seconds: number): Promise<string> {
  const script = `timeout ${seconds} bash -c 'exec 3<>/dev/tcp/${address}/${port} && echo answered'`
  const { stdout, stderr } = await place().host.run([
    'ip',
    'netns',
    'exec',
    'edge',
    'bash',
    '-c',
    script,
  ])
  if (stdout.trim() === 'answered') return 'answered'
  return /refused/i.test(stderr) ? 'refused' : 'silent'
}

test(
  'a router on the way out reaches what is behind a gateway, and nothing of the host or its networks',
  { skip },
  async () => {
    for (const command of [
      // A router of a tenant, without OVN.
      'ip netns add edge',
      'ip link add edge0 type veth peer name eth0 netns edge',
      'ip link set edge0 up',
      'ip -n edge address add 100.64.0.9/16 dev eth0',
      'ip -n edge link set eth0 up',
      'ip -n edge route add default via 100.64.0.1',
      'ip netns exec edge ethtool -K eth0 tx off',
      'ovs-vsctl add-port sk-out edge0',
    ]) {
      await run(...command.split(' '))
    }
    const serve =
      "require('node:net').createServer((c)=>c.end()).listen(7777,()=>console.log('listens'))"
    const listeners = [['ip', 'netns', 'exec', 'outside'], []].map((inside) =>
      place().host.spawn([...inside, process.execPath, '-e', serve], {
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    )
    try {
      for (const { stdout } of listeners) for await (const _ of stdout ?? []) break
      await until(
        'the way out leads out',
        async () => (await tryFrom('203.0.113.9', 7777, 5)) === 'answered',
      )
      for (const address of ['100.64.0.1', '192.0.2.7', '192.0.2.1', '10.83.0.1']) {
        assert.equal(await tryFrom(address, 7777, 30), 'refused', address)
      }
    } finally {
      for (const listener of listeners) listener.kill()
    }
  },
)

test(
  'after a power cut no port of a lost VM is left, and the VM starts again',
  { skip },
  async () => {
    const { host } = place()
    await place().engine[Symbol.asyncDispose]()
    await host.powerCut()
    await host.powerOn()
    assert.equal((await pluggedPorts()).size, 2, 'Open vSwitch keeps them')
    place().engine = await startEngine(host)
    assert.equal((await pluggedPorts()).size, 0)
    assert.match(await run('ip', '-o', 'address', 'show', 'sk-out'), / 100\.64\.0\.1\/16 /)
    await place().engine.changePower('one', 'on', { owner })
    assert.equal((await pluggedPorts()).size, 2)
  },
)
