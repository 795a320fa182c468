import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import {
  hostnameOf,
  whyNotBridge,
  whyNotId,
  whyNotName,
  whyNotSeed,
  whyNotTag,
  type Seed,
  type Vm,
} from '@skerry/vm'

import { requireBridge } from './bridge.ts'
import { domainName, type Definition } from './definition.ts'
import { discard } from './delete.ts'
import { addLayer, linkBase, virtualBytes } from './disk.ts'
import { domainXml } from './domain-xml.ts'
import { asVmId, lookUp } from './find-domain.ts'
import { fixAddress } from './fixed-address.ts'
import type { Host } from './host.ts'
import { macOf } from './mac.ts'
import { lifeDirectory, seedFile, serialFile } from './paths.ts'
import { newRecord, type Owner, type VmRecord } from './record.ts'
import { writeSeed } from './seed.ts'
import { requireRoom } from './space.ts'
import { findTemplate, imageFile } from './template.ts'
import { cardOf, readVm } from './vms.ts'

export const settingLimits = {
  cpus: { min: 1, max: 64 },
  memoryMiB: { min: 64, max: 1024 * 1024 },
  diskMiB: { min: 1, max: 2 * 1024 * 1024 },
} as const

/** What a VM is asked for with; what is left out has a default. */
export interface NewVm {
  readonly id: string
  readonly name?: string
  readonly tag?: string
  readonly owner?: Owner
  readonly incarnation?: string
  readonly template?: string
  readonly cpus?: number
  readonly memoryMiB?: number
  /** At least the template's; the same when left out. */
  readonly diskMiB?: number
  readonly autostart?: boolean
  /** A bridge of the host to join; null for the host's own network, which is also what a template means. */
  readonly bridge?: string | null
  /** The network of its organisation; the host's own when left out. */
  readonly network?: string
  readonly seed?: Seed
}

const DEFAULTS = { cpus: 1, memoryMiB: 512, template: 'default' } as const
/** An overlay's header and tables, and the seed. */
const NEW_VM_BYTES = 2 * 1024 * 1024

/** Makes a VM from a template. The same request again answers with the same VM. */
export function createVm(host: Host, asked: NewVm): Promise<Vm> {
  const why = whyNotNewVm(asked)
  if (why !== undefined) return Promise.reject(new Fault('invalid', why))
  return host.turns.take(asked.id, () =>
    make(host, asked, async (begin) => {
      const template = await findTemplate(host, asked.template ?? DEFAULTS.template)
      const bytes = asked.diskMiB === undefined ? undefined : asked.diskMiB * 1024 ** 2
      if (bytes !== undefined && bytes < template.virtualBytes) {
        const least = Math.ceil(template.virtualBytes / 1024 ** 2)
        throw new Fault('invalid', `diskMiB must be at least ${least}, the size of the template`)
      }
      await requireBridge(host, asked.bridge ?? undefined)
      await requireRoom(host.paths.data, NEW_VM_BYTES, `creating VM ${asked.id}`)
      const base = await linkBase(imageFile(host, template.name), await begin())
      return {
        layers: await addLayer(base, bytes),
        cpus: asked.cpus ?? DEFAULTS.cpus,
        memoryMiB: asked.memoryMiB ?? DEFAULTS.memoryMiB,
        nested: false,
        bridge: asked.bridge ?? undefined,
      }
    }),
  )
}

/** Writes down that the VM is being made, and gives the directory for its disk. */
type Begin = () => Promise<string>
type Laid = Pick<Definition, 'layers' | 'cpus' | 'memoryMiB' | 'nested' | 'bridge'>

/**
 * The way every VM comes to be: written down as 'making', its disk laid, its domain defined,
 * written down as 'there'. What fails in between is taken back at once, what dies in between at
 * the next start.
 */
export async function make(
  host: Host,
  asked: NewVm & { readonly parent?: string },
  layDisk: (begin: Begin) => Promise<Laid>,
): Promise<Vm> {
  const known = host.records.get(asked.id, asked.owner)
  const request = requestOf(asked)
  if (known) return again(host, known, request)
  const id = asVmId(asked.id)
  const owner = asked.owner ?? 'local'
  if (await lookUp(host, domainName({ id, owner }))) {
    throw new Fault('conflict', `libvirt already has a domain ${domainName({ id, owner })}`, {
      hint: 'choose another id, or remove that domain with libvirt’s own tools',
    })
  }
  await using undo = new AsyncDisposableStack()
  const record = newRecord({
    id,
    owner,
    incarnation: asked.incarnation ?? '1',
    uuid: host.ids.uuid(),
    name: asked.name ?? asked.id,
    tag: asked.tag ?? '',
    createdAt: host.clock.now().toISOString(),
    asked: request,
    autostart: asked.autostart ?? false,
    ...(asked.network !== undefined && { network: asked.network }),
  })
  const laid = await layDisk(async () => {
    undo.defer(() => takeBack(host, record))
    await host.records.write(record)
    const directory = lifeDirectory(host.paths, record)
    await mkdir(directory, { mode: 0o711, recursive: true })
    return directory
  })
  if (asked.seed) {
    const vm = { uuid: record.uuid, hostname: asked.seed.hostname ?? hostnameOf(asked.id) }
    await writeSeed(seedFile(host.paths, record), vm, asked.seed)
  }
  const xml = domainXml(definitionOf(host, record, laid, asked.seed !== undefined), host.hypervisor)
  await host.link.call(libvirt.domainDefineXmlFlags, { xml, flags: 0 })
  const placed = await fixAddress(host, record)
  const there = await host.records.write({ ...placed, phase: 'there' })
  undo.move()
  // libvirt told of the domain before it was a VM that anybody is shown.
  host.changes.tell({ kind: 'lifecycle', domain: domainName(record) })
  return await describe(there, laid)
}

/** What was just made is known without asking libvirt: it is off, and never ran. */
async function describe(record: VmRecord, laid: Laid): Promise<Vm> {
  const { id, name, tag, incarnation, autostart, sharing } = record
  const { layers, cpus, memoryMiB, nested, bridge } = laid
  return {
    ...{ id, name, tag, power: 'off', incarnation, boot: null, cpus, memoryMiB },
    diskMiB: (await virtualBytes(layers)) / 1024 ** 2,
    ...{ nested, autostart, sharing },
    ...(bridge !== undefined && { bridge }),
    ...cardOf(record),
  }
}

function definitionOf(host: Host, record: VmRecord, laid: Laid, seeded: boolean): Definition {
  const { id, owner, incarnation, uuid, name, network } = record
  return {
    ...{ id, owner, incarnation, uuid, title: name, network, ...laid },
    mac: macOf(uuid),
    seed: seeded ? seedFile(host.paths, record) : undefined,
    serial: serialFile(host.paths, record),
  }
}

async function again(host: Host, known: VmRecord, request: string): Promise<Vm> {
  if (known.phase === 'there' && known.asked === request) return readVm(host, known.id, known.owner)
  if (known.phase === 'there') {
    throw new Fault('conflict', `there is already a VM ${known.id}, made by another request`, {
      hint: 'choose another id, or delete that VM first',
    })
  }
  throw new Fault('unavailable', `an earlier VM ${known.id} is still being taken away`, {
    hint: 'ask again in a moment',
  })
}

/** What cannot be taken back now, because libvirt is away, is taken back when it comes back. */
async function takeBack(host: Host, record: VmRecord): Promise<void> {
  try {
    await discard(host, record)
  } catch (error) {
    host.note(`VM ${record.id} is half made and will be taken away later`, error)
  }
}

/** One form for one meaning: defaults that are spelled out are the same as defaults. */
function requestOf(asked: NewVm & { readonly parent?: string }): string {
  // Whose it is follows from its id.
  const { seed, bridge, network: _, ...rest } = asked
  // Of a clone null is a wish of its own: it leaves the parent's bridge.
  const joined = bridge === null && asked.parent === undefined ? undefined : bridge
  const plain = {
    ...{ name: asked.id, tag: '', owner: 'local', incarnation: '1', autostart: false },
    ...(asked.parent === undefined && DEFAULTS),
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(joined !== undefined && { bridge: joined }),
    ...(seed && { seed: createHash('sha256').update(JSON.stringify(seed)).digest('hex') }),
  }
  return JSON.stringify(
    Object.fromEntries(Object.entries(plain).sort(([a], [b]) => (a < b ? -1 : 1))),
  )
}

/** Why the settings that are numbers are not legal. */
export function whyNotNumbers(asked: Pick<NewVm, keyof typeof settingLimits>): string | undefined {
  const reasons = Object.entries(settingLimits).map(([name, { min, max }]) => {
    const value = asked[name as keyof typeof settingLimits]
    if (value === undefined || (Number.isInteger(value) && value >= min && value <= max))
      return undefined
    return `${name} must be a whole number from ${min} to ${max}`
  })
  return reasons.find((reason) => reason !== undefined)
}

export function whyNotNewVm(asked: NewVm): string | undefined {
  const reasons = [
    whyNotId(asked.id),
    asked.name === undefined ? undefined : whyNotName(asked.name),
    asked.tag === undefined ? undefined : whyNotTag(asked.tag),
    asked.seed && whyNotSeed(asked.seed),
    typeof asked.bridge === 'string' ? whyNotBridge(asked.bridge) : undefined,
    whyNotNumbers(asked),
  ]
  return reasons.find((reason) => reason !== undefined)
}
