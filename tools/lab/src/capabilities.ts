// What libvirt found out about the machine's QEMU, handed from host to host.
// A fresh libvirtd starts QEMU several times to learn what it can do, which takes 1.4 s, and keeps the answer in its cache. All
// hosts have the same QEMU, and libvirt itself throws an answer away that does not fit the QEMU, libvirt or kernel it finds.
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'

import { cacheDirectory } from './cache-directory.ts'

const place = (directory: string) => join(directory, 'cache', 'qemu', 'capabilities')
const kept = () => join(cacheDirectory(), 'libvirt-capabilities')

/** Gives a fresh host what an earlier one found out. */
export async function lendCapabilities(hostDirectory: string): Promise<void> {
  if (existsSync(place(hostDirectory)) || !existsSync(kept())) return
  await copyAll(kept(), place(hostDirectory))
}

/** Keeps what a host found out for the next one. */
export async function keepCapabilities(hostDirectory: string): Promise<void> {
  if (existsSync(place(hostDirectory))) await copyAll(place(hostDirectory), kept())
}

async function copyAll(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const name of await readdir(from)) {
    if (!name.endsWith('.xml')) continue
    // Several hosts may do this at once; a reader must never see half a file.
    const unfinished = join(to, `${name}.${process.pid}.${performance.now()}`)
    await copyFile(join(from, name), unfinished)
    await rename(unfinished, join(to, name))
  }
}
