// Goal: for any VM name, its domain has the intended devices, and no other. Method: thousands of names that look like XML,
// options or commands, through a real libvirtd with QEMU; the domain XML that libvirt returns is compared.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'
import * as libvirt from '@skerry/libvirt'
import { whyNotId, whyNotName, whyNotTag, type VmId } from '@skerry/vm'
import { attribute, find, readXml, text, type Element } from '@skerry/xml'

import { domainXml } from '../../packages/engine/src/domain/domain-xml.ts'
import { seededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import { startEngine } from './engine.ts'
import { startPlace, type Place } from './guest.ts'
import {
  hostileFolder,
  hostileName,
  hostileTag,
  illegalId,
  illegalName,
  strangeId,
} from './hostile-names.ts'

const skip = reasonToSkip('host', 'small') ?? false
/** By a complete create of a VM, and by its definition alone, which is much quicker. */
const MADE = 300
const DEFINED = 1700

let place: Place | undefined
let connection: libvirt.Connection | undefined
before(async () => {
  if (skip !== false) return
  place = await startPlace()
  const { socket } = place.host.libvirt
  connection = await libvirt.Connection.open({ socket, uri: 'qemu:///system' })
})
after(async () => {
  await connection?.[Symbol.asyncDispose]()
  await place?.[Symbol.asyncDispose]()
})
function there(): Place & { readonly connection: libvirt.Connection } {
  assert(place && connection, 'the host has started')
  return { ...place, connection }
}

/** The intended devices, in libvirt's order: each device's kind, and what it is connected to. */
function intended(own: {
  readonly layers: readonly string[]
  readonly serial: string
  readonly mac?: string
}): string[] {
  return [
    'emulator /usr/bin/qemu-system-x86_64',
    `disk file disk qcow2 ${own.layers.join(' on ')} as vda virtio`,
    'controller pci pcie-root',
    ...Array.from({ length: 14 }, () => 'controller pci pcie-root-port'),
    'controller usb qemu-xhci',
    'controller sata',
    'controller virtio-serial',
    `interface network skerry virtio ${own.mac ?? 'any'}`,
    `serial pty log ${own.serial} as isa-serial`,
    'console pty',
    'channel unix as virtio org.qemu.guest_agent.0',
    'input tablet usb',
    'input mouse ps2',
    'input keyboard ps2',
    'graphics vnc force-shared socket',
    'audio none',
    'video vga',
    'memballoon virtio',
    'rng virtio random /dev/urandom',
  ]
}

const attributesOf = (device: Element, ...names: readonly string[]): string[] =>
  names.map((name) => attribute(device, name) ?? '')

const elementsOf = (parent: Element | undefined): Element[] =>
  (parent?.children ?? []).filter((each) => typeof each !== 'string')

function layersOf(disk: Element | undefined): string[] {
  const file = attribute(find(disk, 'source'), 'file')
  return file === undefined ? [] : [file, ...layersOf(find(disk, 'backingStore'))]
}

/** A device in the words of `intended`; an unknown one with all its attributes. */
function describeDevice(device: Element, withMac: boolean): string {
  const at = (path: readonly string[], name: string) => attribute(find(device, ...path), name) ?? ''
  const words = (...list: readonly string[]) => [device.name, ...list.filter(Boolean)].join(' ')
  switch (device.name) {
    case 'disk':
      return words(
        ...attributesOf(device, 'type', 'device'),
        at(['driver'], 'type'),
        layersOf(device).join(' on '),
        `as ${at(['target'], 'dev')}`,
        at(['target'], 'bus'),
      )
    case 'interface': {
      const mac = withMac ? at(['mac'], 'address') : 'any'
      return words(
        ...attributesOf(device, 'type'),
        at(['source'], 'network'),
        at(['model'], 'type'),
        mac,
      )
    }
    case 'serial':
      return words(
        ...attributesOf(device, 'type'),
        `log ${at(['log'], 'file')}`,
        `as ${at(['target'], 'type')}`,
      )
    case 'channel':
      return words(
        ...attributesOf(device, 'type'),
        `as ${at(['target'], 'type')} ${at(['target'], 'name')}`,
      )
    case 'graphics':
      return words(...attributesOf(device, 'type', 'sharePolicy'), at(['listen'], 'type'))
    case 'emulator':
      return words(text(device) ?? '')
    case 'rng':
      return words(
        ...attributesOf(device, 'model'),
        at(['backend'], 'model'),
        text(find(device, 'backend')) ?? '',
      )
    case 'video':
      return words(at(['model'], 'type'))
    case 'controller':
    case 'console':
    case 'input':
    case 'audio':
    case 'memballoon':
      return words(...attributesOf(device, 'type', 'model', 'bus'))
    default:
      return JSON.stringify(device)
  }
}

/** The parts of every domain of ours, besides its devices. */
const PARTS = [
  'name',
  'uuid',
  'title',
  'metadata',
  'memory',
  'currentMemory',
  'memoryBacking',
  'vcpu',
  'os',
  'features',
  'cpu',
  'clock',
  'on_poweroff',
  'on_reboot',
  'on_crash',
  'devices',
]

async function dump(dom: libvirt.Domain): Promise<Element> {
  const flags = libvirt.DomainXMLFlags.inactive
  const { xml } = await there().connection.call(libvirt.domainGetXmlDesc, { dom, flags })
  return readXml(xml, { bytesMax: 1024 * 1024 })
}

async function domainNames(): Promise<string[]> {
  const args = { needResults: 1, flags: 0 }
  const { domains } = await there().connection.call(libvirt.connectListAllDomains, args)
  return domains.map(({ name }) => name).sort()
}

function isAsIntended(
  domain: Element,
  own: Parameters<typeof intended>[0] & { readonly id: string; readonly title: string },
): void {
  const about = JSON.stringify([own.id, own.title])
  assert.deepEqual(
    elementsOf(domain).map(({ name }) => name),
    PARTS,
    about,
  )
  assert.equal(text(find(domain, 'title')), own.title)
  const [mark, ...others] = elementsOf(find(domain, 'metadata'))
  assert.deepEqual([attribute(mark, 'id'), others.length], [own.id, 0], about)
  assert.deepEqual(
    elementsOf(find(domain, 'os')).map(({ name }) => name),
    ['type', 'boot'],
  )
  assert.deepEqual(
    elementsOf(find(domain, 'devices')).map((device) =>
      describeDevice(device, own.mac !== undefined),
    ),
    intended(own),
    about,
  )
}

/** Several at a time: libvirt works on one while we prepare the next. */
async function eachOf<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  const queue = all.values()
  const worker = async () => {
    for (const one of queue) await work(one)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

describe('hostile names', { skip }, () => {
  const random = seededRandom(31)
  const vms = Array.from({ length: MADE }, (_, index) => ({
    id: strangeId(random, index),
    name: hostileName(random),
    tag: hostileTag(random),
    memoryMiB: 64,
  }))

  test(`${MADE} VMs with such names have the intended devices`, async () => {
    const { engine, connection } = there()
    for (const { id, name, tag } of vms) {
      assert.deepEqual(
        [whyNotId(id), whyNotName(name), whyNotTag(tag)],
        [undefined, undefined, undefined],
      )
    }
    await eachOf(vms, async (requested) => {
      const { id, name, tag } = await engine.createVm(requested)
      assert.deepEqual({ id, name, tag, memoryMiB: 64 }, requested)
      const domain = `local-${requested.id}`
      const { dom } = await connection.call(libvirt.domainLookupByName, { name: domain })
      const directory = `/var/lib/skerry/vms/${requested.id}.vm/1`
      isAsIntended(await dump(dom), {
        id: requested.id,
        title: requested.name,
        serial: `${directory}/serial.log`,
        layers: [`${directory}/layer-1.qcow2`, `${directory}/layer-0.qcow2`],
      })
    })
    assert.deepEqual(await domainNames(), vms.map(({ id }) => `local-${id}`).sort())
  })

  test('a new engine knows every one of them by its name and tag', async () => {
    await using engine = await startEngine(there().host)
    const listed = await engine.listVms()
    assert.deepEqual(
      listed.map(({ id, name, tag }) => [id, name, tag]),
      vms
        .map(({ id, name, tag }) => [id, name, tag])
        .sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    )
  })

  test(`${DEFINED} more definitions, with such paths too, have the intended devices`, async () => {
    const { connection } = there()
    await eachOf([...Array(DEFINED).keys()], async (index) => {
      const id = strangeId(random, MADE + index)
      const title = hostileName(random)
      const hex = (index + 1).toString(16).padStart(4, '0')
      // We never use relative names and line ends; everything else may be in a path.
      const directory = `/data/${hostileName(random).replaceAll(/^[~ ]|\s$/g, '')}/x`
      const own = {
        title,
        serial: `${directory}/serial.log`,
        mac: `52:00:00:00:${hex.replace(/(..)(..)/, '$1:$2')}`,
        layers: [`${directory}/layer-1.qcow2`, `${directory}/layer-0.qcow2`] as const,
      }
      const definition = {
        ...({ id: id as VmId, owner: 'local', incarnation: '1', cpus: 1, memoryMiB: 64 } as const),
        uuid: `00000000-0000-4000-8000-00000000${hex}`,
        nested: false,
        bridge: undefined,
        seed: undefined,
        ...own,
      }
      const xml = domainXml(definition, { type: 'qemu', nesting: 'svm' })
      const { dom } = await connection.call(libvirt.domainDefineXmlFlags, { xml, flags: 0 })
      isAsIntended(await dump(dom), { ...own, id })
      await connection.call(libvirt.domainUndefineFlags, { dom, flags: 0 })
    })
  })

  test('500 invalid names and ids are rejected and define nothing', async () => {
    const { engine, host } = there()
    const domains = await domainNames()
    const files = (await readdir(join(host.dir, 'skerry/vms'))).length
    await eachOf([...Array(500).keys()], async (index) => {
      const requested =
        index % 2 === 0
          ? { id: illegalId(random), name: hostileName(random) }
          : { id: `illegal-${index}`, name: illegalName(random) }
      await assert.rejects(
        engine.createVm(requested),
        { kind: 'invalid' },
        JSON.stringify(requested),
      )
    })
    assert.deepEqual(await domainNames(), domains)
    assert.equal((await readdir(join(host.dir, 'skerry/vms'))).length, files)
  })

  test('500 folders are rejected or harmless', async () => {
    const { engine, dir } = there()
    const [{ id } = { id: '' }] = vms
    const kept = new Map<string, unknown>()
    for (let index = 0; index < 500; index += 1) {
      // One that is allowed; the others may all be rejected.
      const drawn = index === 0 ? { guestPath: 'a', hostPath: dir } : hostileFolder(random, dir)
      const folder = { ...drawn, flags: 4 } as const
      await engine.addFolder(id, folder).then(
        () => kept.set(folder.guestPath, folder),
        ({ kind }: { kind?: string }) => {
          assert.match(kind ?? '', /^(invalid|forbidden|conflict)$/, JSON.stringify(folder))
        },
      )
    }
    for (const folder of kept.values()) {
      assert.match((folder as { guestPath: string }).guestPath, /^(?!\.{1,2}$)[\w.-]{1,64}$/)
      assert.equal((folder as { hostPath: string }).hostPath, dir)
    }
    assert.deepEqual(await engine.listFolders(id), [...kept.values()])
    assert(kept.size > 0)
  })

  test('after their deletion nothing is left', async () => {
    const { engine, host } = there()
    await eachOf(vms, ({ id }) => engine.deleteVm(id))
    assert.deepEqual(await readdir(join(host.dir, 'skerry/vms')), [])
    assert.deepEqual(await domainNames(), [])
  })
})
