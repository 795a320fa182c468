import { Fault } from '@skerry/fault'
import { readQcow2 } from '@skerry/image'
import type { Seed, Vm } from '@skerry/vm'

import { make, whyNotNewVm } from './create.ts'
import { addLayer, linkBase } from './disk.ts'
import type { Host } from './host.ts'
import { cachedImage, hasImage } from './image-cache.ts'
import { networkOf } from './segment.ts'
import { requireRoom } from './space.ts'

/** A VM of the cloud's: its disk stands on an image that is here already. */
export interface NewCloudVm {
  readonly id: string
  readonly incarnation: string
  readonly name: string
  /** Whose it is: it joins the network of that organisation. */
  readonly org: string
  /** The SHA-256 of the image. */
  readonly image: string
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
  readonly seed?: Seed
}

/** An overlay's header and tables. */
const NEW_VM_BYTES = 2 * 1024 * 1024

/** Makes a VM for the cloud. The same request again answers with the same VM. */
export function createFromImage(host: Host, asked: NewCloudVm): Promise<Vm> {
  const { image, org, ...rest } = asked
  const { id, cpus, memoryMiB, diskMiB } = rest
  const request = { ...rest, owner: 'cloud' } as const
  const why = whyNotNewVm(request)
  if (why !== undefined) return Promise.reject(new Fault('invalid', why))
  return host.turns.take(id, () =>
    make(host, { ...request, template: image, network: networkOf(org) }, async (begin) => {
      if (!(await hasImage(host, image))) {
        throw new Fault('unavailable', `the image ${image} is not on this host`, {
          hint: 'ask for the image first',
        })
      }
      const file = cachedImage(host.paths, image)
      const bytes = diskMiB * 1024 ** 2
      const least = Number((await readQcow2(file)).virtualBytes)
      if (bytes < least) {
        throw new Fault('invalid', `diskMiB must be at least ${Math.ceil(least / 1024 ** 2)}`)
      }
      await requireRoom(host.paths.data, NEW_VM_BYTES, `creating VM ${id}`)
      const layers = await addLayer(await linkBase(file, await begin()), bytes)
      return { layers, cpus, memoryMiB, nested: false, bridge: undefined }
    }),
  )
}
