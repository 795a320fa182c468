// A network across two hosts of a lab, with the card of a guest that moves and one that stays on each host: OVN's databases are filled by
// hand, and the cards that stay are network namespaces.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { until, type Lab, type LabHost } from '@skerry/lab'
import { map, namedUuid, Ovsdb, set } from '@skerry/ovsdb'

import { startOvnCentral } from '../../tools/lab/test/start-ovn-central.ts'
import type { RemoteEngine } from './engine.ts'

const TALK = join(import.meta.dirname, 'talk.ts')
const WAIT_MS = 120_000
const PING_MS = 50
const MTU = 1442

interface Card {
  readonly id: string
  readonly mac: string
  readonly address: string
}
const card = (number: number): Card => ({
  id: `7b0f0dc1-0000-4000-8000-00000000001${number}`,
  mac: `52:54:00:00:00:0${number}`,
  address: `192.168.10.2${number}`,
})
export const moving = card(1)
const staying = [card(2), card(3)] as const

/** The name by which OVN knows a host. */
export const chassisOf = (at: number): string => `7b0f0dc1-0000-4000-8000-00000000000${at}`

export async function startNetwork(lab: Lab, engines: readonly RemoteEngine[]) {
  await using stack = new AsyncDisposableStack()
  const central = stack.use(await startOvnCentral(join(lab.dir, 'ovn'), lab.netns))
  const northbound = stack.use(await Ovsdb.open({ path: central.path }))
  const cards = [moving, ...staying]
  await northbound.transact('OVN_Northbound', [
    ...cards.map(({ id, mac, address }, at) => ({
      op: 'insert' as const,
      table: 'Logical_Switch_Port',
      row: { name: id, addresses: `${mac} ${address}`, port_security: `${mac} ${address}` },
      'uuid-name': `port${at}`,
    })),
    {
      op: 'insert',
      table: 'Logical_Switch',
      row: { name: 'net', ports: set(cards.map((_, at) => namedUuid(`port${at}`))) },
    },
  ])
  for (const [at, host] of lab.hosts.entries()) {
    await engines[at]?.joinOverlay({
      fencingToken: '7',
      remote: central.remote,
      systemId: chassisOf(at),
      tunnelAddress: host.address ?? '',
      mtu: MTU,
    })
    const own = staying[at]
    if (own) await addNamespace(host, own)
  }
  const all = stack.move()
  return {
    /** Which hosts may have the card that moves. */
    async request(options: Readonly<Record<string, string>>) {
      const row = { options: map(options) }
      const where = [['name', '==', moving.id]] as const
      const update = { op: 'update', table: 'Logical_Switch_Port', where, row } as const
      await northbound.transact('OVN_Northbound', [update])
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

/** A network namespace on the host, whose card is a port of OVN's bridge there. */
async function addNamespace(host: LabHost, { id, mac, address }: Card): Promise<void> {
  const commands = [
    `ip netns add stays`,
    `ip link add t-stays type veth peer name eth0 address ${mac} netns stays`,
    `ip -n stays link set eth0 mtu ${MTU} up`,
    `ip -n stays address add ${address}/24 dev eth0`,
    `ip netns exec stays ethtool -K eth0 tx off`,
    `ip link set t-stays up`,
    `ovs-vsctl --timeout=30 add-port br-int t-stays -- set interface t-stays external_ids:iface-id=${id}`,
  ]
  for (const command of commands) {
    const { code, stderr } = await host.run(command.split(' '))
    assert.equal(code, 0, `${command}: ${stderr}`)
  }
}

/** What a host's namespace hears of the card that moves. */
export interface Traffic {
  /** Waits until it has heard this many times more than now. */
  more(times: number): Promise<void>
  /** Ends it; returns the longest time without an answer. */
  end(): Promise<Silence>
}

export interface Silence {
  readonly ms: number
  /** Between which answers it was, and how much later the second of them came. */
  readonly between: string
}

/** Pings it twenty times a second. */
export function beginPings(host: LabHost): Traffic {
  const words = ['busybox', 'ping', '-i', String(PING_MS / 1000), moving.address]
  const { heard, child, more } = listen(host, words, /seq=(\d+) /)
  return {
    more,
    async end() {
      const ended = once(child, 'close')
      child.kill('SIGINT')
      await ended
      return longest(heard.map(([seq = 0, at = 0]) => ({ number: seq, ms: seq * PING_MS, at })))
    },
  }
}

/** Talks to it by one TCP connection. */
export function beginTalk(host: LabHost): Traffic {
  const { heard, child, more } = listen(
    host,
    [process.execPath, TALK, moving.address],
    /^(\d+) (\d+)$/,
  )
  return {
    more,
    async end() {
      const ended = once(child, 'close')
      child.stdin?.end()
      const [code] = (await ended) as [number]
      assert.equal(code, 0, 'the connection is whole')
      assert.deepEqual(
        heard.map(([line]) => line),
        heard.map((_, at) => at),
      )
      return longest(heard.map(([number = 0, ms = 0, at = 0]) => ({ number, ms, at })))
    },
  }
}

function listen(host: LabHost, words: readonly string[], line: RegExp) {
  const child = host.spawn(['ip', 'netns', 'exec', 'stays', ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const heard: number[][] = []
  assert.ok(child.stdout)
  createInterface({ input: child.stdout }).on('line', (text) => {
    const found = line.exec(text)
    if (found) heard.push([...found.slice(1).map(Number), performance.now()])
  })
  const more = async (times: number) => {
    const enough = heard.length + times
    await until(`${host.name} hears ${moving.address}`, () => heard.length >= enough, WAIT_MS)
  }
  return { child, heard, more }
}

interface Answered {
  readonly number: number
  /** When it was sent, by its number, or came, by the other side's clock. */
  readonly ms: number
  /** When this process read it. */
  readonly at: number
}

function longest(heard: readonly Answered[]): Silence {
  // While the guest moves, copies of packets wait for it at the other host: an answer that comes again, or after later ones, is no silence.
  const answers: Answered[] = []
  for (const each of heard) if (each.number > (answers.at(-1)?.number ?? -1)) answers.push(each)
  const silences = answers.slice(1).map((after, index): Silence => {
    const before = answers[index] ?? after
    const read = Math.round(after.at - before.at)
    const between = `${before.number} and ${after.number}, read ${read} ms later`
    return { ms: after.ms - before.ms, between }
  })
  return silences.reduce((most, each) => (each.ms > most.ms ? each : most))
}
