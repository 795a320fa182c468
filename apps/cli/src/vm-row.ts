import type { World } from './command.ts'
import { path } from './local-client.ts'
import { mebibytes, type Column } from './table.ts'

/** A VM as the rich list tells it. */
export interface VmRow {
  readonly id: string
  readonly name?: string
  readonly tag?: string
  readonly state: string
  readonly address?: string | null
  readonly cpus?: number
  readonly memoryMiB?: number
  readonly diskMiB?: number
  /** Of a VM of a cloud: what it belongs to. */
  readonly vapp?: string
  readonly org?: string
  readonly host?: string
  /** Whatever else there is to know of this one. */
  readonly [more: string]: string | number | boolean | null | undefined
}

const stateColours: Readonly<Record<string, 'green' | 'yellow' | 'blue' | 'faint'>> = {
  'powered on': 'green',
  paused: 'yellow',
  suspended: 'blue',
  'powered off': 'faint',
}

const id: Column<VmRow> = { head: 'ID', cell: (row) => row.id }
const name: Column<VmRow> = { head: 'NAME', cell: (row) => row.name ?? '' }
const stateAndSize: readonly Column<VmRow>[] = [
  { head: 'STATE', cell: ({ state }) => state, colour: ({ state }) => stateColours[state] },
  { head: 'ADDRESS', cell: ({ address }) => address ?? '' },
  { head: 'CPUS', align: 'right', cell: ({ cpus }) => String(cpus ?? '') },
  { head: 'MEMORY', align: 'right', cell: ({ memoryMiB }) => mebibytes(memoryMiB) },
  { head: 'DISK', align: 'right', cell: ({ diskMiB }) => mebibytes(diskMiB) },
]

export const vmColumns: readonly Column<VmRow>[] = [
  ...[id, name, ...stateAndSize],
  { head: 'TAG', cell: ({ tag = '' }) => tag },
]

/** In a cloud a VM is mostly called by its name, and its id is long. */
export const cloudVmColumns: readonly Column<VmRow>[] = [
  name,
  { head: 'VAPP', cell: ({ vapp = '' }) => vapp },
  ...[...stateAndSize, id],
]

/** All VMs, or those that the query names; a daemon without the rich list answers ids, and is then asked for each. */
export async function readVms(
  { api }: Pick<World, 'api'>,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly VmRow[]> {
  const asked = new URLSearchParams({ view: 'full', ...query })
  const { body } = await api.ask<readonly (string | VmRow)[]>(
    'GET',
    `${path('vms')}?${asked.toString()}`,
  )
  return Promise.all(
    body.map(async (row) => (typeof row === 'string' ? { id: row, state: await power(row) } : row)),
  )
  async function power(id: string): Promise<string> {
    const { body } = await api.ask<{ message: string }>('GET', path('vms', 'power', id))
    return body.message
  }
}
