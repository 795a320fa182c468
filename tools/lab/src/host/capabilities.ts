// libvirt's capabilities of the machine's QEMU, passed from host to host.
// A fresh libvirtd starts QEMU several times to probe its capabilities, which takes 1.4 s, and caches the result. All hosts have the
// same QEMU, and libvirt discards a cached result that does not match its QEMU, libvirt or kernel.
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheDirectory } from '../system/cache-directory.ts'

const place = (directory: string) => join(directory, 'cache', 'qemu', 'capabilities')
const kept = () => join(cacheDirectory(), 'libvirt-capabilities')

/** Gives a fresh host the cached capabilities of an earlier one. */
export async function lendCapabilities(hostDirectory: string): Promise<void> {
  if (existsSync(place(hostDirectory)) || !existsSync(kept())) return
  await copyAll(kept(), place(hostDirectory))
}

/** Caches the capabilities of a host for the next one. */
export async function keepCapabilities(hostDirectory: string): Promise<void> {
  if (existsSync(place(hostDirectory))) await copyAll(place(hostDirectory), kept())
}

async function copyAll(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    if (!name.endsWith('.xml')) continue
    // Several hosts may do this at once; a reader must never see a partial file.
    const unfinished = join(to, `${name}.${process.pid}.${performance.now()}`)
    await copyFile(join(from, name), unfinished)
    await rename(unfinished, join(to, name))
  }
}
