// Goal: guests of an organisation on two hosts are in one network, with addresses that the cloud chose, and no packet of another
// organisation arrives there, with the same range. Method: a lab of two hosts with Open vSwitch, a cloud with a network server, and guests
// that boot.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import {
  reasonToSkip,
  reasonWithoutTemporal,
  startLab,
  until,
  type Lab,
  type LabHost,
} from '@skerry/lab'
import { attribute, childrenByLocalName, text } from '@skerry/xml'

import { CloudClient, taskOf } from '../../apps/cloud/test/cloud-client.ts'
import { inDomain } from './in-guest.ts'
import type { Plugged } from './link-probes.ts'

const skip =
  reasonToSkip('host', 'network', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
/** Generous: guests are emulated, three at a time on few cores. */
const BOOT_MS = 240_000
/** The largest packet of a guest where hosts have 1,500 bytes. */
const MTU = 1_442
/** The name of a guest's card, for its shell. */
const CARD = '$(ls /sys/class/net | grep ^e | head -n 1)'

const stack = new AsyncDisposableStack()
let lab: Lab
let blue: readonly [Plugged, Plugged]
let green: Plugged

async function logIn(tenant: number): Promise<CloudClient> {
  const { cloud } = lab
  const who = cloud?.tenants[tenant]
  assert.ok(cloud && who)
  const ca = readFileSync(cloud.ca, 'utf8')
  return CloudClient.logIn(cloud.url, ca, `${who.user}@${who.org}`, who.password)
}

/** A started guest as the cloud reports it; its host is determined by libvirt. */
async function start(client: CloudClient, name: string): Promise<Plugged> {
  const made = await client.instantiate(name)
  const task = await client.ended(taskOf(made.root), BOOT_MS)
  assert.equal(attribute(task, 'status'), 'success', made.text)
  const [children] = childrenByLocalName(
    await client.get(attribute(made.root, 'href') ?? ''),
    'Children',
  )
  const [vm] = childrenByLocalName(children, 'Vm')
  const [section] = childrenByLocalName(vm, 'NetworkConnectionSection')
  const [connection] = childrenByLocalName(section, 'NetworkConnection')
  const value = (part: string) => text(childrenByLocalName(connection, part)[0]) ?? ''
  const domain = `cloud-${attribute(vm, 'href')?.slice(-36)}`
  const homes = await Promise.all(
    lab.hosts.map(async (host) => (await host.run(['virsh', 'domid', domain])).code === 0),
  )
  const host = lab.hosts[homes.indexOf(true)] as LabHost
  return { domain, host, address: value('IpAddress'), mac: value('MACAddress') }
}

const inside = ({ host, domain }: Plugged, script: string) =>
  inDomain(host, domain, script, BOOT_MS)

/** Everything that passes between its host and a guest's card meanwhile: `out` to the guest, `in` from it. */
async function framesOf(
  { host, domain }: Plugged,
  way: 'in' | 'out',
  act: () => Promise<unknown>,
): Promise<string[]> {
  const { stdout } = await host.run(['virsh', '-q', 'domiflist', domain])
  const tap = stdout.trim().split(/\s+/)[0] ?? ''
  const words = ['tcpdump', '-i', tap, '-Q', way, '-e', '-n', '-l', '--immediate-mode']
  const child = host.spawn(words, { stdio: ['ignore', 'pipe', 'pipe'] })
  let [seen, reported] = ['', '']
  child.stdout?.on('data', (chunk: Buffer) => (seen += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (reported += chunk.toString()))
  await until(`tcpdump listens at ${tap}`, () => reported.includes('listening on'), BOOT_MS)
  await act()
  const ended = once(child, 'close')
  child.kill('SIGINT')
  await ended
  return seen.trim().split('\n')
}

const ping = (from: Plugged, { address }: Plugged, count: number, size = 56) =>
  inside(from, `ping -c ${count} -W 5 -s ${size} ${address}`)

suite('networks across hosts', { skip }, () => {
  before(async () => {
    const { path } = stack.use(await mkdtempDisposable(join(tmpdir(), 'net-')))
    lab = stack.use(await startLab({ dir: join(path, 'l'), hosts: 2, cells: 1, network: true }))
    const [bob, gwen] = [await logIn(0), await logIn(1)]
    // Placement selects the least used host: one is on the first, the other on the second.
    blue = [await start(bob, 'one'), await start(bob, 'two')]
    green = await start(gwen, 'green')
    assert.notEqual(blue[0].host.name, blue[1].host.name)
  })
  after(() => stack.disposeAsync())

  test('every guest has the address that the cloud reports and the MTU of its network, from its first boot on', async () => {
    for (const guest of [...blue, green]) {
      const script = `ip -4 -o address show dev ${CARD} | awk '{ print $4 }'; cat /sys/class/net/${CARD}/mtu`
      const has = async () => {
        const [address = '', mtu] = (await inside(guest, script)).trim().split('\n')
        return address.replace(/\/.*/, '') === guest.address && Number(mtu) === MTU
      }
      await until(`${guest.domain} has ${guest.address} and an MTU of ${MTU}`, has, BOOT_MS)
    }
  })

  test('guests of an organisation on two hosts reach each other, with the largest packet too', async () => {
    const [one, two] = blue
    await until(
      `${one.address} reaches ${two.address}`,
      async () => (await ping(one, two, 1)).includes('1 packets received'),
      BOOT_MS,
    )
    assert.match(await ping(two, one, 3, MTU - 28), /3 packets received/)
    assert.match(await inside(one, `echo | nc -w 10 ${two.address} 22`), /SSH-/)
  })

  test('no frame of one organisation arrives at a card of another, with the same range', async () => {
    const [one, two] = blue
    // To the other guest of its own, to all, and to the address of the stranger, which may be its own.
    const probes = `ping -c 3 -W 2 ${two.address}; ping -c 3 -W 2 ${green.address}; ping -c 3 -W 2 255.255.255.255; arping -c 3 -I ${CARD} ${green.address}; true`
    let sent: string[] = []
    const frames = await framesOf(green, 'out', async () => {
      sent = await framesOf(one, 'in', () => inside(one, probes))
      await inside(green, `arping -c 3 -I ${CARD} $(ip route | awk '/^default/ { print $3 }')`)
    })
    for (const to of [two.mac, 'ff:ff:ff:ff:ff:ff']) {
      assert.ok(
        sent.some((frame) => frame.includes(`${one.mac} > ${to}`)),
        `frames to ${to} left the guest`,
      )
    }
    assert.ok(
      frames.some((frame) => frame.includes(`> ${green.mac}`)),
      'its own answers are captured',
    )
    assert.deepEqual(
      frames.filter((frame) => frame.includes(one.mac) || frame.includes(two.mac)),
      [],
    )
  })

  test('guests notice nothing while the network server and the controllers of their hosts are down', async () => {
    const [one, two] = blue
    await lab.cloud?.network?.kill()
    for (const host of lab.hosts) await host.killSwitchDaemon('ovn-controller')
    assert.match(await ping(one, two, 10), /10 packets received/)
    for (const host of lab.hosts) await host.startSwitch()
    await lab.cloud?.network?.start()
    // Not without a loss: a controller that starts replaces the flows of its host, and a packet was seen to be lost then.
    await until(
      `${two.address} reaches ${one.address}`,
      async () => (await ping(two, one, 1)).includes('1 packets received'),
      BOOT_MS,
    )
  })
})
