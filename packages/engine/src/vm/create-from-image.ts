import { Fault } from '@skerry/fault'
import { readQcow2 } from '@skerry/image'
import type { Nic, Seed, Vm } from '@skerry/vm'

import { addLayer, linkBase } from '../disk/disk.ts'
import { cachedImage, hasImage } from '../disk/image-cache.ts'
import { networkOf } from '../domain/segment.ts'
import type { Host } from '../host/host.ts'
import { make, whyNotNewVm } from './create.ts'

/** A VM created by the cloud: its disk is based on an image that is already on the host. */
export interface NewCloudVm {
  readonly id: string
  readonly incarnation: string
  readonly name: string
  /** The organisation that owns it; without `nics` the VM joins that organisation's network on this host. */
  readonly org: string
  readonly nics?: readonly Nic[]
  /** The SHA-256 of the image. */
  readonly image: string
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
  readonly seed?: Seed
}

/** The size of an overlay's header and tables. */
const NEW_VM_BYTES = 2 * 1024 * 1024

/** Creates a VM for the cloud. Idempotent: a repeated request returns the same VM. */
export function createFromImage(host: Host, requested: NewCloudVm): Promise<Vm> {
  const { image, org, ...rest } = requested
  const { id, cpus, memoryMiB, diskMiB } = rest
  const request = { ...rest, owner: 'cloud' } as const
  const why = whyNotNewVm(request)
  if (why !== undefined) return Promise.reject(new Fault('invalid', why))
  return host.locks.run(id, () =>
    make(host, { ...request, template: image, network: networkOf(org) }, async (begin) => {
      if (!(await hasImage(host, image))) {
        throw new Fault('unavailable', `the image ${image} is not on this host`, {
          hint: 'pull the image first',
        })
      }
      const file = cachedImage(host.paths, image)
      const bytes = diskMiB * 1024 ** 2
      const least = Number((await readQcow2(file)).virtualBytes)
      if (bytes < least) {
        throw new Fault('invalid', `diskMiB must be at least ${Math.ceil(least / 1024 ** 2)}`)
      }
      using _ = await host.room.hold(host.paths.data, NEW_VM_BYTES, `creating VM ${id}`)
      const layers = await addLayer(await linkBase(file, await begin()), bytes)
      return { layers, cpus, memoryMiB, nested: false, bridge: undefined }
    }),
  )
}
