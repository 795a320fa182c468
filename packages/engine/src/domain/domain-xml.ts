import { Fault } from '@skerry/fault'
import type { VmId } from '@skerry/vm'
import {
  attribute,
  children,
  childrenByLocalName,
  element,
  find,
  readXml,
  renderElement,
  text,
  type Element,
} from '@skerry/xml'

import { domainName, type DomainDefinition, type Hypervisor } from '../host/definition.ts'
import type { Owner } from '../host/owner.ts'
import { isPlugged, readPlugged, type PluggedNic } from './card-xml.ts'
import { devices } from './device-xml.ts'
import { hostSegment } from './segment.ts'

/** Namespace of our metadata in a domain. Written at define and never changed. */
const METADATA = 'urn:skerry:vm:1'

export const DUMP_BYTES_MAX = 4 * 1024 * 1024

/** The libvirt domain XML of a VM. */
export function domainXml(definition: DomainDefinition, hypervisor: Hypervisor): string {
  const { id, owner, incarnation, uuid, title, cpus, memoryMiB } = definition
  return renderElement(
    element(
      'domain',
      { type: hypervisor.type },
      element('name', {}, domainName(definition)),
      element('uuid', {}, uuid),
      element('title', {}, title),
      element(
        'metadata',
        {},
        element('skerry:vm', { 'xmlns:skerry': METADATA, id, owner, incarnation }),
      ),
      element('memory', { unit: 'MiB' }, memoryMiB),
      element('vcpu', {}, cpus),
      // Shared with a virtiofsd that may be hot-plugged.
      element(
        'memoryBacking',
        {},
        element('source', { type: 'memfd' }),
        element('access', { mode: 'shared' }),
      ),
      element(
        'os',
        {},
        element('type', { arch: 'x86_64', machine: 'q35' }, 'hvm'),
        element('boot', { dev: 'hd' }),
      ),
      element('features', {}, element('acpi', {}), element('apic', {})),
      cpu(definition.nested, hypervisor),
      element('clock', { offset: 'utc' }),
      element('on_poweroff', {}, 'destroy'),
      element('on_reboot', {}, 'restart'),
      element('on_crash', {}, 'destroy'),
      devices(definition),
    ),
  )
}

function cpu(nested: boolean, { type, nesting }: Hypervisor): Element {
  const feature = element('feature', { policy: nested ? 'require' : 'disable', name: nesting })
  return type === 'kvm'
    ? element('cpu', { mode: 'host-passthrough', migratable: 'on' }, feature)
    : element(
        'cpu',
        { mode: 'custom', match: 'exact', check: 'none' },
        element('model', {}, 'qemu64'),
        feature,
      )
}

/** Parses a dumped domain; undefined if it was not created by Skerry. */
export function readDomain(xml: string): DomainFacts | undefined {
  const domain = readXml(xml, { bytesMax: DUMP_BYTES_MAX })
  const ours = childrenByLocalName(find(domain, 'metadata'), 'vm').find((mark) =>
    Object.values(mark.attributes).includes(METADATA),
  )
  if (!ours) return undefined
  const disk = find(domain, 'devices', 'disk', 'source')
  return {
    id: (attribute(ours, 'id') ?? '') as VmId,
    owner: (attribute(ours, 'owner') ?? 'local') as Owner,
    incarnation: attribute(ours, 'incarnation') ?? '',
    uuid: text(find(domain, 'uuid')) ?? '',
    title: text(find(domain, 'title')) ?? '',
    cpus: Number(text(find(domain, 'vcpu'))),
    memoryMiB: mebibytes(find(domain, 'memory')),
    nested: children(find(domain, 'cpu'), 'feature').some(
      (feature) =>
        ['svm', 'vmx'].includes(attribute(feature, 'name') ?? '') &&
        attribute(feature, 'policy') === 'require',
    ),
    mac: attribute(find(domain, 'devices', 'interface', 'mac'), 'address') ?? '',
    bridge: bridgeOf(domain),
    network: networkIn(domain),
    plugged: readPlugged(domain),
    disk: attribute(disk, 'file') ?? '',
    vncSocket: displaySocket(domain),
  }
}

export interface DomainFacts extends Omit<
  DomainDefinition,
  'layers' | 'seed' | 'serial' | 'overlay'
> {
  /** Its cards on networks across hosts; undefined if it has a card of another kind. */
  readonly plugged: readonly PluggedNic[] | undefined
  /** The active layer. */
  readonly disk: string
  /** Only while the VM runs. */
  readonly vncSocket: string | undefined
}

/** The XML of a running guest on a libvirt network also names a bridge: libvirt's own. */
export function bridgeOf(domain: Element | undefined): string | undefined {
  const card = find(domain, 'devices', 'interface')
  return attribute(card, 'type') === 'bridge' && !isPlugged(card)
    ? attribute(find(card, 'source'), 'bridge')
    : undefined
}

/** undefined for our own network. */
export function networkIn(domain: Element | undefined): string | undefined {
  const name = attribute(find(domain, 'devices', 'interface', 'source'), 'network')
  return name === hostSegment.network ? undefined : name
}

function displaySocket(domain: Element): string | undefined {
  const graphics = find(domain, 'devices', 'graphics')
  return attribute(find(graphics, 'listen'), 'socket') ?? attribute(graphics, 'socket')
}

const unitBytes: Readonly<Record<string, number>> = {
  b: 1,
  bytes: 1,
  KiB: 1024,
  k: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
}

function mebibytes(memory: Element | undefined): number {
  const unit = unitBytes[attribute(memory, 'unit') ?? 'KiB']
  if (unit === undefined)
    throw new Fault('unavailable', 'libvirt returned memory in an unknown unit')
  return (Number(text(memory)) * unit) / 1024 ** 2
}
