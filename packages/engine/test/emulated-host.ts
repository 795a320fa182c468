import { randomUUID } from 'node:crypto'
import { mkdir } from 'node:fs/promises'

import { startLibvirt, type Libvirt } from '@skerry/lab'

import { qemuImg } from '../../image/test/qemu-img.ts'
import type { Hypervisor } from '../src/definition.ts'
import { openHost, type Host } from '../src/host.ts'
import { importTemplate } from '../src/template.ts'
import { temporaryDirectory } from './temporary-directory.ts'

export interface EmulatedHost extends AsyncDisposable {
  readonly host: Host
  readonly libvirt: Libvirt
  /** What went wrong where nobody waited for an answer. */
  readonly notes: readonly string[]
}

/** A host whose libvirtd and disks are real and whose guests are not: libvirt's in-memory driver. */
export async function startEmulatedHost(): Promise<EmulatedHost> {
  await using stack = new AsyncDisposableStack()
  const directory = stack.use(await temporaryDirectory())
  const libvirt = stack.use(await startLibvirt())
  const notes: string[] = []
  await mkdir(directory.at('saves'))
  const host = stack.use(
    await openHost({
      libvirt: { socket: libvirt.socket, uri: 'test:///default' },
      paths: {
        data: directory.at('data'),
        run: directory.at('run'),
        qemuPids: directory.at('pids'),
        qemuSaves: directory.at('saves'),
      },
      // The in-memory driver takes our definitions, devices and all, for domains of its own kind.
      hypervisor: { type: 'test' as Hypervisor['type'], nesting: 'svm' },
      clock: { now: () => new Date(0) },
      ids: { uuid: () => randomUUID() },
      note: (message) => notes.push(message),
    }),
  )
  await qemuImg('create', '-q', '-f', 'qcow2', directory.at('image'), '64M')
  await importTemplate(host, 'default', directory.at('image'))
  const all = stack.move()
  return { host, libvirt, notes, [Symbol.asyncDispose]: () => all.disposeAsync() }
}
