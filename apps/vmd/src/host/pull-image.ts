import type { IncomingMessage } from 'node:http'

import { storeImage, type Host, type IncomingImage, type StoreOptions } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { MachineLink, readText, reviveFault } from '@skerry/host-api'

import type { Membership } from './membership.ts'

/** A cell that sends nothing for this long is given up. */
const SILENCE_MS = 30_000

/** Downloads the image from the first cell that has it. A cell serves it only for a VM that is placed on this host. */
export type PullImage = (digest: string, vm: string, options: StoreOptions) => Promise<void>

export const pullImageFor =
  (host: Host, member: () => Pick<Membership, 'identity' | 'cells'>): PullImage =>
  async (digest, vm, options) => {
    const { identity, cells } = member()
    await using links = new AsyncDisposableStack()
    const path = `/machine/v1/images/${digest}?vm=${encodeURIComponent(vm)}`
    const fetch = async (): Promise<IncomingImage> => {
      let last: unknown = new Fault('unavailable', 'no cell address is configured on this host')
      for (const cell of cells) {
        const link = links.adopt(new MachineLink(cell, identity, { role: 'cell' }), (each) =>
          each[Symbol.dispose](),
        )
        try {
          return await begin(link, path, options.signal)
        } catch (error) {
          // Another cell may be reachable or have it; other errors are the same everywhere.
          if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error
          last = error
        }
      }
      throw last
    }
    await storeImage(host, digest, fetch, options)
  }

async function begin(
  link: MachineLink,
  path: string,
  signal: AbortSignal | undefined,
): Promise<IncomingImage> {
  const response = await link.ask({ method: 'GET', path, signal })
  if (response.statusCode !== 200) throw reviveFault(await readText(response))
  const length = Number(response.headers['content-length'])
  return {
    bytes: unlessSilent(response),
    length: Number.isSafeInteger(length) ? length : undefined,
  }
}

async function* unlessSilent(response: IncomingMessage): AsyncGenerator<Buffer, void> {
  const timer = setTimeout(() => response.destroy(), SILENCE_MS)
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      timer.refresh()
      yield chunk
    }
  } catch (cause) {
    throw new Fault('unavailable', 'the image transfer was interrupted', { cause })
  } finally {
    clearTimeout(timer)
    response.destroy()
  }
}
