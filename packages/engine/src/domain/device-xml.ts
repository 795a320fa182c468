import { element, type Element } from '@skerry/xml'

import type { DomainDefinition } from '../host/definition.ts'
import { cards } from './card-xml.ts'

/**
 * Root ports of the PCI Express bus. The devices below take seven with one network card; the rest stay free for devices that are
 * hot-plugged. Each further card has one more.
 */
const ROOT_PORTS = 14

/** The devices of a guest, always the same list in the same order. */
export function devices(definition: DomainDefinition): Element {
  const { layers, seed, serial, overlay } = definition
  return element(
    'devices',
    {},
    ...rootPorts(ROOT_PORTS + Math.max(0, (overlay?.nics.length ?? 1) - 1)),
    disk(layers),
    seed !== undefined && seedDisk(seed),
    ...cards(definition),
    // A terminal that can be opened, and a log of all its output, truncated by virtlogd.
    element(
      'serial',
      { type: 'pty' },
      element('log', { file: serial, append: 'on' }),
      element('target', { port: 0 }),
    ),
    element('console', { type: 'pty' }, element('target', { type: 'serial', port: 0 })),
    element(
      'channel',
      { type: 'unix' },
      element('target', { type: 'virtio', name: 'org.qemu.guest_agent.0' }),
    ),
    element('controller', { type: 'usb', model: 'qemu-xhci' }),
    // Absolute coordinates: without them the pointer in a browser drifts away from the guest's.
    element('input', { type: 'tablet', bus: 'usb' }),
    // Without force-shared, each new viewer disconnects the others.
    element(
      'graphics',
      { type: 'vnc', sharePolicy: 'force-shared' },
      element('listen', { type: 'socket' }),
    ),
    element('video', {}, element('model', { type: 'vga', vram: 16384 })),
    element('rng', { model: 'virtio' }, element('backend', { model: 'random' }, '/dev/urandom')),
    element('memballoon', { model: 'virtio' }, element('stats', { period: 10 })),
  )
}

function rootPorts(count: number): Element[] {
  return [
    element('controller', { type: 'pci', index: 0, model: 'pcie-root' }),
    ...Array.from({ length: count }, (_, port) =>
      element('controller', { type: 'pci', index: port + 1, model: 'pcie-root-port' }),
    ),
  ]
}

function disk([top, ...below]: DomainDefinition['layers']): Element {
  return element(
    'disk',
    { type: 'file', device: 'disk' },
    // If the host's disk is full, the guest pauses until there is space; its writes do not fail.
    element('driver', {
      name: 'qemu',
      type: 'qcow2',
      discard: 'unmap',
      error_policy: 'enospace',
    }),
    element('source', { file: top }),
    backing(below),
    element('target', { dev: 'vda', bus: 'virtio' }),
  )
}

/** The whole chain with its formats, so that no format is guessed from a file's content. */
function backing([next, ...below]: readonly string[]): Element {
  if (next === undefined) return element('backingStore', {})
  return element(
    'backingStore',
    { type: 'file' },
    element('format', { type: 'qcow2' }),
    element('source', { file: next }),
    backing(below),
  )
}

function seedDisk(file: string): Element {
  return element(
    'disk',
    { type: 'file', device: 'disk' },
    element('driver', { name: 'qemu', type: 'raw' }),
    element('source', { file }),
    element('backingStore', {}),
    element('target', { dev: 'vdb', bus: 'virtio' }),
    element('readonly', {}),
  )
}
