import type { LabHost } from '@skerry/lab'

import type { DomainSeen } from './domains.ts'

interface Info {
  readonly filename: string
  readonly snapshots?: readonly { readonly name: string }[]
}

/** The chain below a layer, itself first. */
export async function layersOf(host: LabHost, disk: string): Promise<string[]> {
  return (await describe(host, disk)).map(({ filename }) => filename)
}

export async function snapshotsIn(host: LabHost, disk: string): Promise<string[]> {
  const [top] = await describe(host, disk)
  return (top?.snapshots ?? []).map(({ name }) => name)
}

async function describe(host: LabHost, disk: string): Promise<Info[]> {
  const words = ['info', '-U', '--backing-chain', '--output=json', '-f', 'qcow2', disk]
  const { code, stdout, stderr } = await host.run(['qemu-img', ...words])
  if (code !== 0) throw new Error(`qemu-img cannot read ${disk}: ${stderr}`)
  return JSON.parse(stdout) as Info[]
}

/**
 * The errors of `qemu-img check` for every layer of every VM. The active layer of a running guest is left out: QEMU has part of
 * it in memory only.
 */
export async function imageFaults(
  host: LabHost,
  domains: readonly DomainSeen[],
): Promise<string[]> {
  const files = await Promise.all(
    domains.map(async ({ disk, isRunning }) => {
      const layers = await layersOf(host, disk)
      return isRunning ? layers.slice(1) : layers
    }),
  )
  const faults: string[] = []
  for (const file of new Set(files.flat())) {
    const check = ['qemu-img', 'check', '-U', '-f', 'qcow2', file]
    const { code, stdout, stderr } = await host.run(check)
    if (code !== 0) faults.push(`${file}: ${`${stdout}${stderr}`.trim().slice(0, 300)}`)
  }
  return faults
}
