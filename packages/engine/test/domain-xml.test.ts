import assert from 'node:assert/strict'
import { test } from 'node:test'

import { whyNotName, type Nic, type VmId } from '@skerry/vm'
import { children, find, readXml } from '@skerry/xml'

import { seededRandom, type SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { arbitraryText } from '../../xml/test/arbitrary.ts'
import { otherLinks } from '../src/domain/card-xml.ts'
import { domainXml, readDomain } from '../src/domain/domain-xml.ts'
import type { DomainDefinition, Hypervisor } from '../src/host/definition.ts'

const emulated: Hypervisor = { type: 'qemu', nesting: 'svm' }
const hypervisors = [
  emulated,
  { type: 'kvm', nesting: 'svm' },
  { type: 'kvm', nesting: 'vmx' },
] as const satisfies Hypervisor[]

/** Any valid VM name, mostly one that tries to break out of its element. */
function hostileTitle(random: SeededRandom): string {
  for (;;) {
    const title = arbitraryText(random, ['</title>', '<devices>', '\u2028', '😀', ' '])
    if (whyNotName(title) === undefined) return title
  }
}

function arbitraryDefinition(random: SeededRandom): DomainDefinition {
  const number = () => String(random.below(1_000_000))
  const hex = (length: number) =>
    Array.from({ length }, () => random.below(16).toString(16)).join('')
  const paths = ['/data/a', '/data/with blank', '/data/<&>"\'', '/data/ü', '/data/%s$(x)'] as const
  const directory = random.pick(paths)
  const depth = 1 + random.below(8)
  const [top = '', ...below] = Array.from(
    { length: depth },
    (_, place) => `${directory}/layer-${depth - place}.qcow2`,
  )
  return {
    id: `vm-${number()}` as VmId,
    owner: random.pick(['local', 'cloud']),
    incarnation: number(),
    uuid: [8, 4, 4, 4, 12].map(hex).join('-'),
    title: hostileTitle(random),
    cpus: 1 + random.below(64),
    memoryMiB: 64 + random.below(1024 * 1024),
    nested: random.below(2) === 0,
    mac: `52:${Array.from({ length: 5 }, () => hex(2)).join(':')}`,
    ...random.pick<Pick<DomainDefinition, 'bridge' | 'network'>>([
      { bridge: undefined, network: undefined },
      { bridge: undefined, network: 'skerry-0123456789' },
      { bridge: 'br0', network: undefined },
      { bridge: 'br-lan.7', network: undefined },
    ]),
    overlay: undefined,
    layers: [top, ...below],
    seed: random.below(2) === 0 ? `${directory}/seed.img` : undefined,
    serial: `${directory}/serial.log`,
  }
}

test('a definition is read back from its XML', () => {
  const random = seededRandom(11)
  for (let round = 0; round < 2000; round += 1) {
    const definition = arbitraryDefinition(random)
    const { layers, seed: _, serial: __, overlay: ___, ...said } = definition
    assert.deepEqual(readDomain(domainXml(definition, random.pick(hypervisors))), {
      ...said,
      plugged: undefined,
      disk: layers[0],
      vncSocket: undefined,
    })
  }
})

function arbitraryNics(random: SeededRandom, count: number): Nic[] {
  const hex = (length: number) =>
    Array.from({ length }, () => random.below(16).toString(16)).join('')
  return Array.from({ length: count }, (_, index) => ({
    index,
    id: [8, 4, 4, 4, 12].map(hex).join('-'),
    mac: `52:54:00:${hex(2)}:${hex(2)}:0${index}`,
    mtu: 1280 + random.below(8000),
    connected: random.below(2) === 0,
    network: 'any',
  }))
}

test('cards on networks across hosts are ports of Open vSwitch in the order of their indexes, and no card is elsewhere', () => {
  const random = seededRandom(13)
  for (let round = 0; round < 500; round += 1) {
    const nics = arbitraryNics(random, round % 11)
    const datapath = random.pick(['system', 'netdev'] as const)
    const overlay = { nics: nics.toReversed(), datapath }
    const xml = domainXml({ ...arbitraryDefinition(random), overlay }, emulated)
    const facts = readDomain(xml)
    assert.deepEqual(
      facts?.plugged,
      nics.map(({ id, mac, mtu, connected }) => ({ id, mac, mtu, connected })),
    )
    assert.deepEqual([facts.bridge, facts.network], [undefined, undefined])
    const devices = find(readXml(xml, { bytesMax: 1024 * 1024 }), 'devices')
    const free = children(devices, 'controller').length - nics.length
    assert.equal(free, nics.length === 0 ? 16 : 15, 'as many ports stay free')
    for (const card of children(devices, 'interface')) {
      assert.deepEqual({ ...find(card, 'source')?.attributes }, { bridge: 'br-int' })
      const offloads = find(card, 'driver', 'guest')?.attributes['csum']
      assert.equal(offloads, datapath === 'netdev' ? 'off' : undefined)
    }
  }
})

test('only links that differ are changed, and nothing else of their cards', () => {
  const random = seededRandom(14)
  const nics = arbitraryNics(random, 4)
  const overlay = { nics, datapath: 'system' } as const
  const xml = domainXml({ ...arbitraryDefinition(random), overlay }, emulated)
  const domain = readXml(xml, { bytesMax: 1024 * 1024 })
  assert.deepEqual(otherLinks(domain, nics), [])
  const wanted = nics.map((nic, at) => (at === 2 ? { ...nic, connected: !nic.connected } : nic))
  const [card, ...more] = otherLinks(domain, wanted)
  assert.deepEqual(more, [])
  assert.equal(find(card, 'link')?.attributes['state'], wanted[2]?.connected ? 'up' : 'down')
  assert.equal(find(card, 'mac')?.attributes['address'], nics[2]?.mac)
  assert.equal(children(card, 'link').length, 1)
})

test('for any definition, the elements of its XML are the same', () => {
  const random = seededRandom(12)
  const shape = (xml: string) => {
    const domain = readXml(xml, { bytesMax: 1024 * 1024 })
    const devices = find(domain, 'devices')?.children ?? []
    return [domain.children, devices].map((list) =>
      list.map((each) => (typeof each === 'string' ? each : each.name)),
    )
  }
  const plain = arbitraryDefinition(random)
  const one = (definition: DomainDefinition) =>
    shape(domainXml({ ...definition, seed: undefined, layers: plain.layers }, emulated))
  const expected = one(plain)
  for (let round = 0; round < 500; round += 1) {
    assert.deepEqual(one(arbitraryDefinition(random)), expected)
  }
})

test('every layer is listed with its format, and the lowest has no backing file', () => {
  const definition = arbitraryDefinition(seededRandom(3))
  const layers: DomainDefinition['layers'] = [
    '/d/layer-2.qcow2',
    '/d/layer-1.qcow2',
    '/d/layer-0.qcow2',
  ]
  const domain = readXml(domainXml({ ...definition, layers }, emulated), { bytesMax: 65_536 })
  let node = find(domain, 'devices', 'disk')
  const chain: unknown[] = []
  for (; node; node = find(node, 'backingStore')) {
    const type = find(node, 'driver') ?? find(node, 'format')
    chain.push([find(node, 'source')?.attributes['file'], type?.attributes['type']])
  }
  assert.deepEqual(chain, [...layers.map((file) => [file, 'qcow2']), [undefined, undefined]])
})

test('nested virtualisation is required or disabled, never left open', () => {
  const definition = arbitraryDefinition(seededRandom(4))
  for (const hypervisor of hypervisors) {
    for (const nested of [true, false]) {
      const xml = domainXml({ ...definition, nested }, hypervisor)
      const cpu = find(readXml(xml, { bytesMax: 65_536 }), 'cpu')
      assert.deepEqual(
        children(cpu, 'feature').map(({ attributes }) => ({ ...attributes })),
        [{ policy: nested ? 'require' : 'disable', name: hypervisor.nesting }],
      )
    }
  }
})

test('a domain without our metadata is not ours', () => {
  const of = (metadata: string) =>
    `<domain type='kvm'><name>local-a</name><memory>1024</memory>${metadata}</domain>`
  assert.equal(readDomain(of('')), undefined)
  assert.equal(readDomain(of('<metadata><vm id="a"/></metadata>')), undefined)
  const foreign = '<metadata><x:vm xmlns:x="urn:other" id="a"/></metadata>'
  assert.equal(readDomain(of(foreign)), undefined)
})

test('memory is read in any unit of libvirt, and an unknown unit is a fault', () => {
  const mark = '<metadata><s:vm xmlns:s="urn:skerry:vm:1" id="a"/></metadata>'
  const of = (memory: string) => readDomain(`<domain>${mark}${memory}</domain>`)?.memoryMiB
  assert.equal(of('<memory unit="KiB">524288</memory>'), 512)
  assert.equal(of('<memory>524288</memory>'), 512)
  assert.equal(of('<memory unit="GiB">2</memory>'), 2048)
  assert.throws(() => of('<memory unit="parsecs">2</memory>'), { kind: 'unavailable' })
})
