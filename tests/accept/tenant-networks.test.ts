// Goal: guests of one organisation reach each other on a host; no packet of one organisation's guest arrives at another's, on one
// host or on two, nor at a guest of the local API, nor at any port of the infrastructure. Method: a lab of two hosts and a cloud,
// guests that boot, packets of every kind sent from inside, and a capture of every frame that a host sends to the other guest's
// card.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import {
  guestImage,
  reasonToSkip,
  reasonWithoutTemporal,
  startLab,
  until,
  type Lab,
  type LabHost,
} from '@skerry/lab'
import { attribute, childrenByLocalName, text } from '@skerry/xml'

import { CloudClient, taskOf } from '../../apps/cloud/test/cloud-client.ts'
import { curlOn } from './curl.ts'
import { inDomain } from './in-guest.ts'
import { capture, kindsOf, probe, type Plugged } from './link-probes.ts'

const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
/** Generous: guests are emulated, five at a time on few cores. */
const BOOT_MS = 180_000
/** Some 200 programs are started in an emulated guest, and some wait for two seconds. */
const PORTS_MS = 600_000

interface Guest extends Plugged {
  readonly client: CloudClient
  readonly vapp: string
  readonly network: string
}

const stack = new AsyncDisposableStack()
let lab: Lab
/** Two of one organisation on one host. */
let pair: readonly [Guest, Guest]
/** Of another organisation, with one of the first on its host, and one on the other host. */
let green: Guest
let near: Guest
let far: Guest
let local: Plugged

const logIn = async (tenant: number) => {
  const { cloud } = lab
  const who = cloud?.tenants[tenant]
  assert.ok(cloud && who)
  const ca = readFileSync(cloud.ca, 'utf8')
  return CloudClient.logIn(cloud.url, ca, `${who.user}@${who.org}`, who.password)
}

async function succeed(
  client: CloudClient,
  { root, text: said }: Awaited<ReturnType<CloudClient['ask']>>,
) {
  const task = await client.ended(taskOf(root), BOOT_MS)
  assert.equal(attribute(task, 'status'), 'success', said)
}

/** A started guest as the cloud reports it; its host is determined by libvirt. */
async function start(client: CloudClient, name: string): Promise<Guest> {
  const made = await client.instantiate(name)
  await succeed(client, made)
  const vapp = attribute(made.root, 'href') ?? ''
  const [children] = childrenByLocalName(await client.get(vapp), 'Children')
  const [vm] = childrenByLocalName(children, 'Vm')
  const [section] = childrenByLocalName(vm, 'NetworkConnectionSection')
  const [connection] = childrenByLocalName(section, 'NetworkConnection')
  const value = (part: string) => text(childrenByLocalName(connection, part)[0]) ?? ''
  const domain = `cloud-${attribute(vm, 'href')?.slice(-36)}`
  const homes = await Promise.all(
    lab.hosts.map(async (host) => (await host.run(['virsh', 'domid', domain])).code === 0),
  )
  return {
    client,
    vapp,
    domain,
    host: lab.hosts[homes.indexOf(true)] as LabHost,
    address: value('IpAddress'),
    mac: value('MACAddress'),
    network: attribute(connection, 'network') ?? '',
  }
}

/** A guest of the local API, on the same machine. */
async function startLocal(host: LabHost): Promise<Plugged> {
  const { post, patch, get } = curlOn(() => host)
  const image = { file: await guestImage('small') }
  assert.equal((await post('/api/templates?default', image)).status, 201)
  assert.equal((await post('/api/vms', { id: 'own' })).status, 201)
  assert.equal((await patch('/api/vms/power/own', 'on')).status, 200)
  const { stdout } = await host.run(['virsh', '-q', 'domiflist', 'local-own'])
  const reported = async () => (await get('/api/vms/own/ipaddress')).body as { message: string }
  const hasAddress = async () => (await reported()).message.startsWith('10.83.')
  await until('the guest of the local API has an address', hasAddress, BOOT_MS)
  const mac = stdout.trim().split(/\s+/).at(-1) ?? ''
  return { host, domain: 'local-own', mac, address: (await reported()).message }
}

const addressesIn = ({ host, domain }: Plugged) =>
  inDomain(host, domain, 'ip -4 -o address | awk \'$2 != "lo" { print $4 }\'')

/** Frames that are not from the host's end of the link: without DHCP, ARP and the link's own announcements. */
async function strangeTo(
  { host, network, mac }: Guest,
  frames: readonly string[],
): Promise<string[]> {
  const bridge = network.replace('skerry-', 'sk-')
  const { stdout } = await host.run(['cat', `/sys/class/net/${bridge}/address`])
  assert.match(stdout, /^[0-9a-f:]{17}\n$/)
  const own = new RegExp(`^\\S+ ${stdout.trim()} > .*(?:ARP|\\.67 > .*\\.68: BOOTP)`)
  const cable = mac.replace(/^../, 'fe')
  return frames.filter((frame) => !own.test(frame) && !frame.includes(` ${cable} > 33:33:`))
}

suite('networks of organisations', { skip }, () => {
  before(async () => {
    const { path } = stack.use(await mkdtempDisposable(join(tmpdir(), 'tenants-')))
    lab = stack.use(await startLab({ dir: join(path, 'lab'), hosts: 2, cells: 1 }))
    const [bob, gwen] = [await logIn(0), await logIn(1)]
    // Placement selects the least used host: these are on one, the other, the first again; then the other.
    const blue: Guest[] = []
    for (const name of ['one', 'two', 'three']) blue.push(await start(bob, name))
    green = await start(gwen, 'green')
    local = await startLocal(green.host)
    const at = (host: LabHost) => blue.filter((each) => each.host === host)
    const [first, second] = lab.hosts.map(at).find(({ length }) => length === 2) ?? []
    const [beside] = at(green.host)
    const [away] = blue.filter((each) => each.host !== green.host)
    assert.ok(first && second && beside && away, 'the guests are where this test needs them')
    ;[pair, near, far] = [[first, second], beside, away]
  })
  after(() => stack.disposeAsync())

  test('every guest has the address that the cloud reports, from its first boot on', async () => {
    const all = [...new Set([...pair, near, far, green])]
    for (const guest of all) {
      const has = async () => (await addressesIn(guest)).trim() === `${guest.address}/24`
      await until(`${guest.domain} has ${guest.address}`, has, BOOT_MS)
      assert.match(guest.address, /^10\.8[4-7]\./)
    }
    const blue = new Set([...pair, near, far].map(({ network }) => network))
    assert.equal(blue.size, 1, 'an organisation’s network has the same name on every host')
    assert.ok(!blue.has(green.network))
    const found = await green.client.get(`/api/query?type=vm&filter=ipAddress==${green.address}`)
    assert.equal(attribute(found, 'total'), '1')
    assert.notEqual(
      near.address.replace(/\.\d+$/, ''),
      green.address.replace(/\.\d+$/, ''),
      'no two networks of a host share addresses',
    )
  })

  test('two guests of an organisation reach each other on a host, by every kind of packet', async (t) => {
    const [from, to] = pair
    await using seen = await capture(to)
    await probe(from, to)
    const kinds = kindsOf(await seen.frames(), from, to)
    t.diagnostic(JSON.stringify(kinds))
    for (const [kind, count] of Object.entries(kinds)) assert.ok(count > 0, kind)
    const script = `ping -c 1 -W 5 ${to.address}; echo | nc -w 20 ${to.address} 22`
    const isAnswered = async () => {
      const answers = await inDomain(from.host, from.domain, script)
      return answers.includes('1 packets received') && answers.includes('SSH-')
    }
    await until('ping and SSH are answered', isAnswered, BOOT_MS)
  })

  test('no packet of one organisation arrives at another’s guest, on one host and on two', async (t) => {
    {
      await using atGreen = await capture(green)
      await Promise.all([probe(near, green), probe(far, green)])
      const strange = await strangeTo(green, await atGreen.frames())
      t.diagnostic(`frames of the one at the other's card: ${strange.length}`)
      assert.deepEqual(strange, [])
    }
    await using atNear = await capture(near)
    await probe(green, near)
    const back = await strangeTo(near, await atNear.frames())
    t.diagnostic(`and the other way round: ${back.length}`)
    assert.deepEqual(back, [])
  })

  test('no packet passes between an organisation’s guest and a guest of the local API, in either direction', async () => {
    await using atLocal = await capture(local)
    await using atGreen = await capture(green)
    await probe(near, local)
    await probe(local, green)
    const isOf =
      ({ mac, address }: Plugged) =>
      (frame: string) =>
        frame.includes(mac) || frame.includes(`${address} `) || frame.includes(`${address}.`)
    assert.deepEqual((await atLocal.frames()).filter(isOf(near)), [])
    assert.deepEqual(await strangeTo(green, await atGreen.frames()), [])
  })

  test('no packet reaches a port of the infrastructure: its host’s, another host’s or the cloud’s', async (t) => {
    const [host, other] = [near.host, far.host]
    const [cell] = JSON.parse(readFileSync(join(host.dir, 'skerry/cloud/cells.json'), 'utf8'))
    const gateway = (address: string) => address.replace(/\.\d+$/, '.1')
    const addresses = [
      gateway(near.address),
      gateway(green.address),
      '10.83.0.1',
      local.address,
      host.address ?? '',
      other.address ?? '',
      cell.address,
    ]
    const cloud = lab.cloud
    assert.ok(cloud)
    const ports = [22, 53, 111, 5432, 7233, 8080, 8081, 16_509, 16_514, cell.port]
    const engines = [`tcp://${cloud.temporal.address}`, cloud.postgres.urlOf('cloud'), cloud.url]
    ports.push(...engines.map((url) => Number(new URL(url).port)))
    const { stdout: listening } = await host.run(['ss', '-Hltn'])
    for (const [, port] of listening.matchAll(/:(\d+)\s/g)) ports.push(Number(port))
    const script = `for a in ${addresses.join(' ')}; do for p in ${[...new Set(ports)].join(' ')}; do
      nc -w 2 $a $p -e true 2>/dev/null && echo $a:$p; done; done; echo end`
    const reached = (await inDomain(near.host, near.domain, script, PORTS_MS)).trim().split('\n')
    assert.deepEqual(reached, [`${gateway(near.address)}:53`, 'end'])
    t.diagnostic(`${addresses.length * new Set(ports).size} connections: 0 but the guest's own DNS`)
    // The same from the host itself: these ports are reachable.
    const open = await host.run(['bash', '-c', `: </dev/tcp/${cell.address}/${cell.port}`])
    assert.equal(open.code, 0, open.stderr)
  })

  test('the network exists again after a power cut, and is removed with the last VM', async () => {
    const { host, network, client, vapp } = green
    const networks = async (...words: readonly string[]) =>
      (await host.run(['virsh', '-q', 'net-list', '--name', ...words])).stdout.split('\n')
    await host.powerCut()
    await host.powerOn()
    await until('the network runs', async () => (await networks()).includes(network), BOOT_MS)
    const isOn = async () => {
      const found = await client.get('/api/query?type=vm&filter=status==POWERED_ON')
      return attribute(found, 'total') === '1'
    }
    await until('the guest is started again', isOn, BOOT_MS)
    const reported = await client.get('/api/query?type=vm')
    const [record] = childrenByLocalName(reported, 'VMRecord')
    assert.equal(attribute(record, 'ipAddress'), green.address)
    await succeed(client, await client.ask('POST', `${vapp}/power/action/powerOff`))
    await succeed(client, await client.ask('DELETE', vapp))
    assert.ok(!(await networks('--all')).includes(network))
    await until('the other runs', async () => (await networks()).includes(near.network), BOOT_MS)
  })
})
