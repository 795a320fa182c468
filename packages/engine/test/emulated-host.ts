import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'

import { startLibvirt, type Libvirt } from '@skerry/lab'

import { qemuImg } from '../../image/test/qemu-img.ts'
import { importTemplate } from '../src/disk/template.ts'
import type { Hypervisor } from '../src/host/definition.ts'
import type { Host } from '../src/host/host.ts'
import { openHost, type HostOptions } from '../src/open-host.ts'
import { temporaryDirectory } from './temporary-directory.ts'

export interface EmulatedHost extends AsyncDisposable {
  readonly host: Host
  readonly libvirt: Libvirt
  /** Logged failures for which no caller waited. */
  readonly notes: readonly string[]
}

/** A host with a real libvirtd and real disks but without real guests: libvirt's in-memory driver. */
export async function startEmulatedHost(
  options: Pick<HostOptions, 'uplinks' | 'uptimeMs'> = {},
): Promise<EmulatedHost> {
  await using stack = new AsyncDisposableStack()
  const directory = stack.use(await temporaryDirectory())
  const libvirt = stack.use(await startLibvirt())
  const notes: string[] = []
  await mkdir(directory.at('saves'))
  const host = stack.use(
    await openHost({
      ...options,
      libvirt: { socket: libvirt.socket, uri: 'test:///default' },
      paths: {
        data: directory.at('data'),
        run: directory.at('run'),
        qemuPids: directory.at('pids'),
        qemuSaves: directory.at('saves'),
        openvswitch: directory.at('openvswitch'),
        ovn: directory.at('ovn'),
        switchSettings: directory.at('openvswitch'),
      },
      // The in-memory driver accepts our definitions, including devices, for its own domain type.
      hypervisor: { type: 'test' as Hypervisor['type'], nesting: 'svm' },
      clock: { now: () => new Date(0) },
      ids: { uuid: () => randomUUID() },
      log: (message) => notes.push(message),
    }),
  )
  await qemuImg('create', '-q', '-f', 'qcow2', directory.at('image'), '64M')
  await importTemplate(host, 'default', directory.at('image'))
  const all = stack.move()
  return { host, libvirt, notes, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
