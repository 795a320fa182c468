import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'
import {
  hostnameOf,
  whyNotBridge,
  whyNotId,
  whyNotName,
  whyNotNics,
  whyNotSeed,
  whyNotTag,
  type Nic,
  type Seed,
  type Vm,
} from '@skerry/vm'

import { addLayer, linkBase, virtualBytes } from '../disk/disk.ts'
import { overlayOf } from '../disk/redefine.ts'
import { writeSeed } from '../disk/seed.ts'
import { findTemplate, imageFile } from '../disk/template.ts'
import { domainXml } from '../domain/domain-xml.ts'
import { asVmId, lookUp } from '../domain/find-domain.ts'
import { macOf } from '../domain/mac.ts'
import { domainName, type DomainDefinition } from '../host/definition.ts'
import type { Host } from '../host/host.ts'
import type { Owner } from '../host/owner.ts'
import { lifeDirectory, seedFile, serialFile } from '../host/paths.ts'
import { makeDirectory, PASSABLE_DIRECTORY } from '../host/private-files.ts'
import { newRecord, type VmRecord } from '../host/record.ts'
import { requireBridge } from '../network/bridge.ts'
import { fixAddress } from '../network/fixed-address.ts'
import { discard } from '../recover/delete.ts'
import { cardOf, readVm } from './vms.ts'

export const settingLimits = {
  cpus: { min: 1, max: 64 },
  memoryMiB: { min: 64, max: 1024 * 1024 },
  diskMiB: { min: 1, max: 2 * 1024 * 1024 },
} as const

/** A request for a new VM; omitted fields have defaults. */
export interface NewVm {
  readonly id: string
  readonly name?: string
  readonly tag?: string
  readonly owner?: Owner
  readonly incarnation?: string
  readonly template?: string
  readonly cpus?: number
  readonly memoryMiB?: number
  /** At least the template's size. Default: the template's size. */
  readonly diskMiB?: number
  readonly autostart?: boolean
  /** The host bridge to join; null or omitted: the host's own network. */
  readonly bridge?: string | null
  /** The network of its organisation. Default: the host's own network. */
  readonly network?: string
  /** Its cards on networks across hosts, instead of one on `network`. */
  readonly nics?: readonly Nic[]
  readonly seed?: Seed
}

const DEFAULTS = { cpus: 1, memoryMiB: 512, template: 'default' } as const
/** The size of an overlay's header and tables, and of the seed. */
const NEW_VM_BYTES = 2 * 1024 * 1024

/** Creates a VM from a template. Idempotent: a repeated request returns the same VM. */
export function createVm(host: Host, requested: NewVm): Promise<Vm> {
  const why = whyNotNewVm(requested)
  if (why !== undefined) return Promise.reject(new Fault('invalid', why))
  return host.locks.run(requested.id, () =>
    make(host, requested, async (begin) => {
      const template = await findTemplate(host, requested.template ?? DEFAULTS.template)
      const bytes = requested.diskMiB === undefined ? undefined : requested.diskMiB * 1024 ** 2
      if (bytes !== undefined && bytes < template.virtualBytes) {
        const least = Math.ceil(template.virtualBytes / 1024 ** 2)
        throw new Fault('invalid', `diskMiB must be at least ${least}, the size of the template`)
      }
      await requireBridge(host, requested.bridge ?? undefined)
      using _ = await host.room.hold(host.paths.data, NEW_VM_BYTES, `creating VM ${requested.id}`)
      const base = await linkBase(imageFile(host, template.name), await begin())
      return {
        layers: await addLayer(base, bytes),
        cpus: requested.cpus ?? DEFAULTS.cpus,
        memoryMiB: requested.memoryMiB ?? DEFAULTS.memoryMiB,
        nested: false,
        bridge: requested.bridge ?? undefined,
      }
    }),
  )
}

/** Records that the VM is being created, and returns the directory for its disk. */
type BeginCreation = () => Promise<string>
type DomainShape = Pick<DomainDefinition, 'layers' | 'cpus' | 'memoryMiB' | 'nested' | 'bridge'>

/**
 * The steps that create any VM: record it as 'making', create its disk, define its domain, record
 * it as 'there'. A failure in between is undone at once, a crash in between at the next start.
 */
export async function make(
  host: Host,
  requested: NewVm & { readonly parent?: string },
  layDisk: (begin: BeginCreation) => Promise<DomainShape>,
): Promise<Vm> {
  const known = host.records.get(requested.id, requested.owner)
  const request = requestOf(requested)
  if (known) return answerRepeated(host, known, request)
  const id = asVmId(requested.id)
  const owner = requested.owner ?? 'local'
  if (requested.nics) host.overlay.require()
  if (await lookUp(host, domainName({ id, owner }))) {
    throw new Fault('conflict', `libvirt already has a domain ${domainName({ id, owner })}`, {
      hint: 'choose another id, or remove that domain with virsh',
    })
  }
  await using undo = new AsyncDisposableStack()
  const record = newRecord({
    id,
    owner,
    incarnation: requested.incarnation ?? '1',
    uuid: host.ids.uuid(),
    name: requested.name ?? requested.id,
    tag: requested.tag ?? '',
    createdAt: host.clock.now().toISOString(),
    requested: request,
    autostart: requested.autostart ?? false,
    ...networkOfNew(requested),
  })
  const laid = await layDisk(async () => {
    undo.defer(() => takeBack(host, record))
    await host.records.write(record)
    const directory = lifeDirectory(host.paths, record)
    await makeDirectory(directory, PASSABLE_DIRECTORY)
    return directory
  })
  if (requested.seed) {
    const vm = { uuid: record.uuid, hostname: requested.seed.hostname ?? hostnameOf(requested.id) }
    await writeSeed(seedFile(host.paths, record), vm, requested.seed)
  }
  const xml = domainXml(
    definitionOf(host, record, laid, requested.seed !== undefined),
    host.hypervisor,
  )
  await host.link.call(libvirt.domainDefineXmlFlags, { xml, flags: 0 })
  const placed = record.nics ? record : await fixAddress(host, record)
  const there = await host.records.write({ ...placed, phase: 'there' })
  undo.move()
  // libvirt emitted its event before the VM became visible.
  host.changes.emit({ kind: 'lifecycle', domain: domainName(record) })
  return await describe(there, laid)
}

const networkOfNew = ({ nics, network }: NewVm): Pick<VmRecord, 'network' | 'nics'> => ({
  ...(nics && { nics }),
  ...(!nics && network !== undefined && { network }),
})

/** A new VM needs no libvirt call: it is off and has never run. */
async function describe(record: VmRecord, laid: DomainShape): Promise<Vm> {
  const { id, name, tag, incarnation, autostart, sharing } = record
  const { layers, cpus, memoryMiB, nested, bridge } = laid
  return {
    id,
    name,
    tag,
    power: 'off',
    incarnation,
    boot: null,
    cpus,
    memoryMiB,
    diskMiB: (await virtualBytes(layers)) / 1024 ** 2,
    nested,
    autostart,
    sharing,
    ...(bridge !== undefined && { bridge }),
    ...cardOf(record),
  }
}

function definitionOf(
  host: Host,
  record: VmRecord,
  laid: DomainShape,
  seeded: boolean,
): DomainDefinition {
  const { id, owner, incarnation, uuid, name, network } = record
  return {
    id,
    owner,
    incarnation,
    uuid,
    title: name,
    network,
    overlay: overlayOf(host, record),
    ...laid,
    mac: macOf(uuid),
    seed: seeded ? seedFile(host.paths, record) : undefined,
    serial: serialFile(host.paths, record),
  }
}

async function answerRepeated(host: Host, known: VmRecord, request: string): Promise<Vm> {
  if (known.phase === 'there' && known.requested === request)
    return readVm(host, known.id, known.owner)
  if (known.phase === 'there') {
    throw new Fault('conflict', `VM ${known.id} already exists, created by a different request`, {
      hint: 'choose another id, or delete that VM first',
    })
  }
  throw new Fault('unavailable', `an earlier VM ${known.id} is still being deleted`, {
    hint: 'retry in a moment',
  })
}

/** If libvirt is unreachable, the removal happens when it is back. */
async function takeBack(host: Host, record: VmRecord): Promise<void> {
  try {
    await discard(host, record)
  } catch (error) {
    host.log(`VM ${record.id} is incomplete and will be removed later`, error)
  }
}

/** Canonical form: an explicit default equals an omitted field. */
function requestOf(requested: NewVm & { readonly parent?: string }): string {
  // The owner follows from the id.
  const { seed, bridge, network: _, nics: __, ...rest } = requested
  // For a clone, null is meaningful: it leaves the parent's bridge.
  const joined = bridge === null && requested.parent === undefined ? undefined : bridge
  const plain = {
    name: requested.id,
    tag: '',
    owner: 'local',
    incarnation: '1',
    autostart: false,
    ...(requested.parent === undefined && DEFAULTS),
    ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
    ...(joined !== undefined && { bridge: joined }),
    ...(seed && { seed: createHash('sha256').update(JSON.stringify(seed)).digest('hex') }),
  }
  return JSON.stringify(
    Object.fromEntries(Object.entries(plain).sort(([a], [b]) => (a < b ? -1 : 1))),
  )
}

/** Why the numeric settings are invalid. */
export function whyNotNumbers(
  requested: Pick<NewVm, keyof typeof settingLimits>,
): string | undefined {
  const reasons = Object.entries(settingLimits).map(([name, { min, max }]) => {
    const value = requested[name as keyof typeof settingLimits]
    if (value === undefined || (Number.isInteger(value) && value >= min && value <= max))
      return undefined
    return `${name} must be a whole number from ${min} to ${max}`
  })
  return reasons.find((reason) => reason !== undefined)
}

export function whyNotNewVm(requested: NewVm): string | undefined {
  const reasons = [
    whyNotId(requested.id),
    requested.name === undefined ? undefined : whyNotName(requested.name),
    requested.tag === undefined ? undefined : whyNotTag(requested.tag),
    requested.seed && whyNotSeed(requested.seed),
    requested.nics && whyNotNics(requested.nics),
    typeof requested.bridge === 'string' ? whyNotBridge(requested.bridge) : undefined,
    whyNotNumbers(requested),
  ]
  return reasons.find((reason) => reason !== undefined)
}
