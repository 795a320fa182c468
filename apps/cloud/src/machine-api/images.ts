import { open } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import { isUuid } from '@skerry/vm'

import { needsImage } from '../identity/machines.ts'
import type { MachineContext } from './context.ts'

/** Sends the bytes of an image, for a VM that is placed on the calling host. */
export async function sendImage(
  { db, images }: MachineContext,
  peer: Peer,
  { digest, vm }: { readonly digest: string; readonly vm: string },
  response: ServerResponse,
): Promise<void> {
  if (!isUuid(vm) || !(await needsImage(db, { host: peer.id, vm, digest }))) {
    throw new Fault('forbidden', 'no VM that is placed on this host needs this image')
  }
  await using file = await open(join(images, digest), 'r').catch((cause: unknown) => {
    throw new Fault('not-found', `image ${digest} is not in the store of this cell`, { cause })
  })
  const { size } = await file.stat()
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': String(size),
  })
  await pipeline(file.createReadStream({ autoClose: false }), response)
}
