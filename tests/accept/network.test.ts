// Goal: guests of an organisation on two hosts are in one network, with addresses that the cloud chose; no packet of another organisation
// arrives there, with the same range; the world reaches what is published and nothing else; and no failure of the control plane is
// noticed. Method: a lab of three hosts with Open vSwitch and a network outside of the cloud, a cloud with a network server, guests that
// boot, and Chromium.
import assert from 'node:assert/strict'
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
  type Login,
} from '@skerry/lab'
import { attribute, childrenByLocalName, text } from '@skerry/xml'

import { CloudClient, taskOf } from '../../apps/cloud/test/cloud-client.ts'
import { startBrowser } from '../web/browser.ts'
import { probe, spoofOf, type Plugged } from './link-probes.ts'
import { controlPlaneOf, type ControlPlane } from './network/control-plane.ts'
import {
  addDualNetwork,
  CARD,
  MTU,
  requireIpv6,
  WORLD,
  type DualGuest,
} from './network/dual-guests.ts'
import { CarriedEdge } from './network/edge-failover.ts'
import { EdgePages } from './network/edge-pages.ts'
import {
  addWorld,
  configureServices,
  ownEdgeGateway,
  takeAddress,
} from './network/edge-services.ts'
import {
  beginConnection,
  beginPings,
  framesOf,
  GUEST_MS,
  inside,
  secondsToReach,
} from './network/guest-traffic.ts'
import { requireTakenOver, requireWithoutPostgres } from './network/outages.ts'
import { requireForbidden } from './network/overlay-attack.ts'

const skip =
  reasonToSkip('host', 'network', 'small', 'cloud', 'browser') ??
  (await reasonWithoutTemporal()) ??
  false
/** How soon guests reach each other after both are on. */
const REACHED_S = 5
const PINGS = 250
/** While the databases are made again: 40 s. */
const PINGS_OF_LOSS = 400

const stack = new AsyncDisposableStack()
let lab: Lab
let control: ControlPlane
let olga: CloudClient
let blue: readonly [DualGuest, DualGuest]
let green: DualGuest
let reachedS: number
let carried: CarriedEdge

async function logIn(who: Login | undefined): Promise<CloudClient> {
  const { cloud } = lab
  assert.ok(cloud && who)
  const ca = readFileSync(cloud.ca, 'utf8')
  return CloudClient.logIn(cloud.url, ca, `${who.user}@${who.org}`, who.password)
}

/** An administrator of the first organisation: only they change its edge gateway. */
async function enterAdministrator(): Promise<CloudClient> {
  const { cloud } = lab
  const [tenant] = cloud?.tenants ?? []
  assert.ok(cloud && tenant)
  const who = { org: tenant.org, user: 'olga', password: tenant.password }
  const role = ['--role', 'organisation administrator']
  await cloud.administer(['user', 'create', `${who.user}@${who.org}`, ...role], who.password)
  return logIn(who)
}

/** A started guest as the cloud reports it; its host is determined by libvirt. */
async function start(client: CloudClient, name: string): Promise<DualGuest> {
  const made = await client.instantiate(name)
  const task = await client.ended(taskOf(made.root), GUEST_MS)
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
  return {
    domain,
    host,
    address: value('IpAddress'),
    ipv6: value('Ipv6Address'),
    mac: value('MACAddress'),
  }
}

const ping = (from: Plugged, address: string, count: number, size = 56) =>
  inside(from, `ping -c ${count} -W 5 -s ${size} ${address}`)

/** The page of a server, by a guest's own shell. */
const getInside = (from: Plugged, address: string, port: number) =>
  inside(from, `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 10 ${address} ${port} | tail -n 1`)

const getInWorld = (address: string, port: number, seconds = 10) =>
  lab.inWorld(['curl', '-s', '-m', String(seconds), `http://${address}:${port}/`])

suite('networks across hosts', { skip }, () => {
  before(async () => {
    const { path } = stack.use(await mkdtempDisposable(join(tmpdir(), 'net-')))
    lab = stack.use(await startLab({ dir: join(path, 'l'), hosts: 3, cells: 1, network: true }))
    control = controlPlaneOf(lab)
    await addWorld(await logIn(lab.cloud?.admin))
    const [bob, gwen] = [await logIn(lab.cloud?.tenants[0]), await logIn(lab.cloud?.tenants[1])]
    olga = await enterAdministrator()
    await addDualNetwork(olga)
    // Placement selects the least used host: each is on another one.
    blue = [await start(bob, 'one'), await start(bob, 'two')]
    ;[reachedS, green] = await Promise.all([secondsToReach(blue), start(gwen, 'green')])
    assert.notEqual(blue[0].host.name, blue[1].host.name)
    // Their first programs: servers whose page is the name of the guest.
    for (const [at, guest] of blue.entries()) {
      const page = `mkdir -p /tmp/www; echo guest-${at} >/tmp/www/index.html`
      await inside(guest, `${page}; httpd -p 80 -h /tmp/www; httpd -p 81 -h /tmp/www`)
    }
  })
  after(() => stack.disposeAsync())

  test('guests of an organisation on two hosts reach each other, with the largest packet too', async (t) => {
    const [one, two] = blue
    t.diagnostic(`reached ${reachedS} s after both were on`)
    assert.ok(reachedS <= REACHED_S, `${reachedS} s`)
    for (const [from, to] of [
      [two, one],
      [one, two],
    ] as const) {
      const isWhole = async () =>
        (await ping(from, to.address, 3, MTU - 28)).includes('3 packets received')
      await until('the largest packets arrive', isWhole, GUEST_MS)
    }
    assert.match(await inside(one, `echo | nc -w 10 ${two.address} 22`), /SSH-/)
  })

  test('every guest has the address that the cloud reports and the MTU of its network, and names of its own network are known', async () => {
    for (const guest of [...blue, green]) {
      const script = `ip -4 -o address show dev ${CARD} | awk '{ print $4 }'; cat /sys/class/net/${CARD}/mtu`
      const has = async () => {
        const [address = '', mtu] = (await inside(guest, script)).trim().split('\n')
        return address.replace(/\/.*/, '') === guest.address && Number(mtu) === MTU
      }
      await until(`${guest.domain} has ${guest.address} and an MTU of ${MTU}`, has, GUEST_MS)
    }
    // The VMs of the template have one name. OVN answers, whichever server is asked.
    const found = await inside(blue[0], `nslookup small ${WORLD}`)
    for (const { address } of blue) assert.ok(found.includes(address), found)
    assert.ok(!found.includes(green.address) || blue.some((each) => each.address === green.address))
  })

  test('guests on two hosts reach each other by IPv6 and by name, and a guest of another organisation has none', () =>
    requireIpv6(blue, green))

  test('no frame of one organisation arrives at a card of another, with the same range', async () => {
    const [one, two] = blue
    // ARP, broadcast, IPv6, an address that is not its own, and frames that are addressed to the other's card: all leave the guest.
    const kinds = [
      `${one.mac} > ${two.mac}`,
      `${one.mac} > ff:ff:ff:ff:ff:ff`,
      `${one.mac} > 33:33:`,
      `${one.mac} > ${green.mac}`,
      `${spoofOf(green)} > ${green.address}`,
    ]
    // The other's own answers are captured.
    const frames = await framesOf(green, 'out', [`> ${green.mac}`], async () => {
      await framesOf(one, 'in', kinds, async () => {
        await probe(one, green)
        await ping(one, two.address, 1)
      })
      await inside(green, `arping -c 3 -I ${CARD} $(ip route | awk '/^default/ { print $3 }')`)
    })
    assert.deepEqual(
      frames.filter((frame) => frame.includes(one.mac) || frame.includes(two.mac)),
      [],
    )
  })

  test('a guest with an address that is not its own is not heard in its own network either', async () => {
    const [one, two] = blue
    const stolen = spoofOf(two)
    const own = `${one.address} > ${two.address}`
    const frames = await framesOf(two, 'out', [own], async () => {
      await inside(
        one,
        `ip address add ${stolen}/32 dev lo; ping -c 3 -W 1 -I ${stolen} ${two.address}; arping -c 1 -U -I ${CARD} ${stolen}; ip address del ${stolen}/32 dev lo`,
      )
      await ping(one, two.address, 1)
    })
    assert.deepEqual(
      frames.filter((frame) => new RegExp(`${stolen.replaceAll('.', '\\.')}(?!\\d)`).test(frame)),
      [],
    )
  })

  test('a published port is reached from the world and from inside; the firewall drops everything else', async () => {
    const [one, two] = blue
    for (const guest of blue) {
      // The first packets of an edge gateway wait until a host carries it and knows the world's router.
      const isOut = async () => (await ping(guest, WORLD, 1)).includes('1 packets received')
      await until(`${guest.address} reaches the world`, isOut, GUEST_MS)
    }
    const edge = await ownEdgeGateway(olga)
    const whole = await takeAddress(olga, edge)
    const nat = [
      { external: edge.address, port: 8080, internal: two.address, internalPort: 80 },
      { external: edge.address, port: 8081, internal: two.address, internalPort: 81 },
      { external: whole, internal: one.address },
    ]
    const allow = [
      { address: edge.address, port: 8080 },
      { address: whole, port: 80 },
    ]
    await configureServices(olga, edge, { nat, allow })
    const page = async (address: string, port: number) =>
      (await getInWorld(address, port)).stdout.trim()
    await until(
      'the port is published',
      async () => (await page(edge.address, 8080)) === 'guest-1',
      GUEST_MS,
    )
    await until('the address is', async () => (await page(whole, 80)) === 'guest-0', GUEST_MS)
    // From inside: of another guest, and of the guest itself.
    for (const guest of blue) {
      assert.equal((await getInside(guest, edge.address, 8080)).trim(), 'guest-1')
    }
    // Forwarded, and not allowed; and of the address that is whole, another port.
    const [refused, other] = await Promise.all([
      getInWorld(edge.address, 8081, 3),
      getInWorld(whole, 81, 3),
    ])
    assert.deepEqual([refused.code, other.code], [28, 28], 'curl: timed out')
    // From one address only, which is not the world's: what was open is closed.
    const elsewhere = allow.map((rule) => ({ ...rule, from: '192.0.2.9' }))
    await configureServices(olga, edge, { nat, allow: elsewhere })
    const isClosed = async () => (await getInWorld(edge.address, 8080, 2)).code === 28
    await until('the port is closed', isClosed, GUEST_MS)
    await configureServices(olga, edge, { nat, allow })
    await until(
      'it is open again',
      async () => (await page(edge.address, 8080)) === 'guest-1',
      GUEST_MS,
    )
  })

  test('by the web UI a port is published, dropped and open again, and a lost update is shown in words', async () => {
    const [, two] = blue
    const [tenant] = lab.cloud?.tenants ?? []
    assert.ok(lab.cloud && tenant)
    const { url } = lab.cloud
    const { org, password } = tenant
    const edge = await ownEdgeGateway(olga)
    await using browser = await startBrowser({ url, password, isUntrusted: true })
    const gateway = edge.href
    const pages = await EdgePages.open({ browser, url, user: `olga@${org}`, gateway })
    await pages.openFromList()
    await pages.row('Published ports and addresses', /:8080 → .*:80 /).waitFor()
    await pages.tab('Firewall')
    await pages.row('Firewall rules', /^1 Allow .*:8080 /).waitFor()
    await pages.tab('External addresses')
    await pages.row('External addresses', / in a rule /).waitFor()
    await pages.takeAndRelease()

    await pages.publish(two.domain.slice(-36), 8090, 81)
    const port = { outside: `${edge.address}:8090`, inside: `${two.address}:81` }
    await pages.seeReach(port, 'Passes')
    const isOpen = async () => (await getInWorld(edge.address, 8090, 2)).stdout.trim() === 'guest-1'
    await until('the port is published', isOpen, GUEST_MS)
    await pages.drop(edge.address, 8090)
    await pages.seeReach(port, 'Dropped')
    const isDropped = async () => (await getInWorld(edge.address, 8090, 2)).code === 28
    await until('the port is dropped', isDropped, GUEST_MS)
    await pages.removeFirstRule()
    await pages.seeReach(port, 'Passes')

    const published = {
      external: edge.address,
      port: 8083,
      internal: two.address,
      internalPort: 80,
    }
    const allow = [{ address: edge.address, port: 8083 }]
    await pages.addRouteLate(
      ['192.168.77.0/24', '198.51.100.9'],
      () => configureServices(olga, edge, { nat: [published], allow }),
      new RegExp(`^tcp ${edge.address}:8083 → ${two.address}:80$`),
    )
    await pages.ready()
    await pages.removeRoute('192.168.77.0/24')
    assert.deepEqual(browser.problems, [])
  })

  test('without PostgreSQL guests lose nothing, the projection stays, and the API answers 503', () => {
    const { cloud } = lab
    assert.ok(cloud)
    return requireWithoutPostgres({ cloud, control, client: olga }, blue)
  })

  test('guests notice nothing when all programs of the control plane are killed and started', async () => {
    const [one, two] = blue
    const toGuest = await beginPings(one, two.address, PINGS)
    const toWorld = await beginPings(two, WORLD, PINGS)
    const connection = await beginConnection(one, two, PINGS)
    await control.killPrograms()
    await control.killAll()
    await control.start()
    assert.equal((await toGuest()).lost, 0, 'within the organisation')
    assert.equal((await toWorld()).lost, 0, 'to the world')
    assert.ok(await connection(), 'the TCP connection is whole')
  })

  test('guests notice next to nothing when the databases are lost with their disks; all keys are the same', async () => {
    const [one, two] = blue
    const keys = await control.keys()
    assert.ok(keys.length > blue.length)
    const toGuest = await beginPings(one, two.address, PINGS_OF_LOSS)
    const toWorld = await beginPings(two, WORLD, PINGS_OF_LOSS)
    await control.loseDatabases()
    assert.deepEqual(await control.keys(), keys)
    for (const result of [await toGuest(), await toWorld()]) {
      assert.ok(result.lost <= PINGS_OF_LOSS / 100, JSON.stringify(result))
    }
    // Hosts can write into the new databases, and what changes afterwards arrives.
    const edge = await ownEdgeGateway(olga)
    const published = {
      external: edge.address,
      port: 8082,
      internal: two.address,
      internalPort: 80,
    }
    const allow = [{ address: edge.address, port: 8082 }]
    await configureServices(olga, edge, { nat: [published], allow })
    const isPublished = async () =>
      (await getInWorld(edge.address, 8082)).stdout.trim() === 'guest-1'
    await until('another port is published', isPublished, GUEST_MS)
  })

  test('a host cannot change in the database of the network server what is another’s', async () => {
    const [one, two] = blue
    await requireForbidden(lab, one.host, two.host)
    const isReached = async () => (await ping(one, two.address, 2)).includes('2 packets received')
    await until('the guests reach each other', isReached, GUEST_MS)
  })

  test('another network server takes the zone from one that still lives, with all hosts, and guests notice next to nothing', async (t) => {
    t.diagnostic(JSON.stringify(await requireTakenOver(lab, blue)))
    // What changes afterwards arrives.
    const edge = await ownEdgeGateway(olga)
    const [, two] = blue
    const nat = [{ external: edge.address, port: 8084, internal: two.address, internalPort: 80 }]
    await configureServices(olga, edge, { nat, allow: [{ address: edge.address, port: 8084 }] })
    const isPublished = async () =>
      (await getInWorld(edge.address, 8084)).stdout.trim() === 'guest-1'
    await until('another port is published', isPublished, GUEST_MS)
  })

  test('when the host that carries the edge gateway loses power, another carries it', async (t) => {
    carried = await CarriedEdge.find(lab, (await ownEdgeGateway(olga)).href, blue)
    t.diagnostic(JSON.stringify(await carried.losePower()))
  })

  test('when it has power again, the edge gateway is there again', async (t) => {
    t.diagnostic(JSON.stringify(await carried.returnPower()))
  })

  test('when it is cut off from the other hosts, another carries the edge gateway', async (t) => {
    t.diagnostic(JSON.stringify(await carried.cutTunnels()))
  })
})
