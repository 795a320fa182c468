import { mebibytes, type TableColumn } from '@skerry/command-line'
import type { UsageSeries } from '@skerry/vm'

import type { CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'
import { path } from '../vms/local-client.ts'
import type { VmAddress, VmReader, SnapshotEntry, TemplateEntry } from '../vms/vm-backend.ts'
import { followVmd } from './events.ts'
import { cloudsOnly } from './not-on-local.ts'
import { readVms, vmColumns } from './vm-row.ts'

interface VmdMessage {
  readonly code: number
  readonly message: string
}

/** vmd's response to a screen request. */
interface Screen {
  /** Path at vmd; contains a ticket if vmd requires a token. */
  readonly page: string
  readonly state: string
  readonly expires?: string
}

/** A single request is short, so that no proxy or HTTP library times out before we do. */
const ASK_SECONDS = 30
const MIB = 1024 ** 2
const SHOWN_DIGITS = 19

const templateColumns: readonly TableColumn<TemplateEntry>[] = [
  { head: 'NAME', cell: ({ name }) => name },
  { head: 'DISK', align: 'right', cell: ({ virtualBytes }) => mebibytes(virtualBytes / MIB) },
  { head: 'FILE', align: 'right', cell: ({ fileBytes = 0 }) => mebibytes(fileBytes / MIB) },
  { head: 'DIGEST', cell: ({ digest = '' }) => digest.slice(0, SHOWN_DIGITS) },
]

export function vmdReading(context: Pick<CliContext, 'api' | 'now' | 'wait'>): VmReader {
  const { api } = context
  const read = async <Body>(...words: readonly string[]) =>
    (await api.ask<Body>('GET', path(...words))).body
  return {
    columns: vmColumns,
    templateColumns,
    async list({ state, tag, filter, all }) {
      if (filter !== undefined) throw cloudsOnly('--filter')
      if (all === true) throw cloudsOnly('--all')
      return readVms(context, {
        ...(state !== undefined && { state }),
        ...(tag !== undefined && { tag }),
      })
    },
    async info(id) {
      const [vm] = (await readVms(context, { id })).filter((each) => each.id === id)
      if (vm !== undefined) return vm
      throw new Failure('refused', `there is no VM ${id}`, { hint: 'skerry list lists all VMs' })
    },
    address: async (id) => addressOf(id, await read<VmdMessage>('vms', id, 'ipaddress')),
    waitForAddress: (id, seconds) => waitForAddress(context, id, seconds),
    reach: async (id, port, seconds) => ({ ...(await waitForAddress(context, id, seconds)), port }),
    async screen(id) {
      const { body } = await api.ask<Screen>('POST', path('vms', id, 'screen'))
      const { page, state, expires } = body
      return { address: new URL(page, api.url).href, state, expires }
    },
    async usage(id, { step, points }) {
      const where = `${path('vms', id, 'usage')}?step=${step}&points=${points}`
      return (await api.ask<UsageSeries>('GET', where)).body
    },
    snapshots: (id) => read<readonly SnapshotEntry[]>('vms', id, 'snapshots'),
    templates: () => read<readonly TemplateEntry[]>('templates'),
    otherTemplate: (name) =>
      `choose another name with --name, or delete it first: skerry template rm ${name}`,
    events: (since) => followVmd(context, since),
    async names(what) {
      if (what === 'VM') return read<readonly string[]>('vms')
      if (what !== 'TEMPLATE') return []
      return (await read<readonly TemplateEntry[]>('templates')).map(({ name }) => name)
    },
  }
}

const addressOf = (id: string, body: VmdMessage): VmAddress => ({ id, address: body.message, body })

/** Polls until the guest has an address; for a VM that is off vmd fails at once. */
async function waitForAddress(
  { api, now }: Pick<CliContext, 'api' | 'now'>,
  id: string,
  seconds: number,
): Promise<VmAddress> {
  const until = now() + seconds * 1000
  for (;;) {
    const left = Math.max(1, Math.ceil((until - now()) / 1000))
    const where = `${path('vms', id, 'ipaddress')}?wait=${Math.min(ASK_SECONDS, left)}`
    try {
      return addressOf(id, (await api.ask<VmdMessage>('GET', where)).body)
    } catch (error) {
      if (!(error instanceof Failure) || error.reason !== 'timedOut') throw error
      if (now() < until) continue
      throw new Failure('timedOut', `${id} has no address after ${seconds} s`, {
        cause: error,
        body: error.body,
        hint: `check the guest’s output: skerry logs ${id}`,
      })
    }
  }
}
