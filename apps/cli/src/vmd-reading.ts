import { cloudsOnly } from './clouds-only.ts'
import type { World } from './command.ts'
import { Failure } from './failure.ts'
import { path } from './local-client.ts'
import { mebibytes, type Column } from './table.ts'
import type { Address, Reading, Snapshot, Template } from './verbs.ts'
import { readVms, vmColumns } from './vm-row.ts'
import { followVmd } from './vmd-events.ts'

interface Said {
  readonly code: number
  readonly message: string
}

/** What the daemon tells of a screen that is asked for. */
interface Screen {
  /** Below the daemon's own address; with a ticket in it where the daemon wants its token. */
  readonly page: string
  readonly state: string
  readonly expires?: string
}

/** A single question is kept short, so that no proxy or HTTP library loses patience before we do. */
const ASK_SECONDS = 30
const MIB = 1024 ** 2
const SHOWN_DIGITS = 19

const templateColumns: readonly Column<Template>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'DISK', align: 'right', cell: ({ virtualBytes }) => mebibytes(virtualBytes / MIB) },
  { head: 'FILE', align: 'right', cell: ({ fileBytes = 0 }) => mebibytes(fileBytes / MIB) },
  { head: 'DIGEST', cell: ({ digest = '' }) => digest.slice(0, SHOWN_DIGITS) },
]

export function vmdReading(world: Pick<World, 'api' | 'now' | 'wait'>): Reading {
  const { api } = world
  const read = async <Body>(...words: readonly string[]) =>
    (await api.ask<Body>('GET', path(...words))).body
  return {
    ...{ columns: vmColumns, templateColumns },
    async list({ state, tag, filter, all }) {
      if (filter !== undefined) throw cloudsOnly('--filter')
      if (all === true) throw cloudsOnly('--all')
      return readVms(world, {
        ...(state !== undefined && { state }),
        ...(tag !== undefined && { tag }),
      })
    },
    async info(id) {
      const [vm] = (await readVms(world, { id })).filter((each) => each.id === id)
      if (vm !== undefined) return vm
      throw new Failure('refused', `there is no VM ${id}`, { hint: 'skerry list shows all VMs' })
    },
    address: async (id) => addressOf(id, await read<Said>('vms', id, 'ipaddress')),
    waitForAddress: (id, seconds) => waitForAddress(world, id, seconds),
    async screen(id) {
      const { body } = await api.ask<Screen>('POST', path('vms', id, 'screen'))
      const { page, state, expires } = body
      return { address: new URL(page, api.url).href, state, expires }
    },
    snapshots: (id) => read<readonly Snapshot[]>('vms', id, 'snapshots'),
    templates: () => read<readonly Template[]>('templates'),
    otherTemplate: (name) =>
      `choose another by --name, or delete it first: skerry template rm ${name}`,
    events: (since) => followVmd(world, since),
    async names(what) {
      if (what === 'VM') return read<readonly string[]>('vms')
      if (what !== 'TEMPLATE') return []
      return (await read<readonly Template[]>('templates')).map(({ name }) => name)
    },
  }
}

const addressOf = (id: string, body: Said): Address => ({ id, address: body.message, body })

/** Asks until the guest has an address; of a VM that is off the daemon says at once that it never will. */
async function waitForAddress(
  { api, now }: Pick<World, 'api' | 'now'>,
  id: string,
  seconds: number,
): Promise<Address> {
  const until = now() + seconds * 1000
  for (;;) {
    const left = Math.max(1, Math.ceil((until - now()) / 1000))
    const where = `${path('vms', id, 'ipaddress')}?wait=${Math.min(ASK_SECONDS, left)}`
    try {
      return addressOf(id, (await api.ask<Said>('GET', where)).body)
    } catch (error) {
      if (!(error instanceof Failure) || error.reason !== 'timedOut') throw error
      if (now() < until) continue
      throw new Failure('timedOut', `${id} has no address after ${seconds} s`, {
        cause: error,
        body: error.body,
        hint: `see what the guest says: skerry logs ${id}`,
      })
    }
  }
}
