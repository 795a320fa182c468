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
}

const stateColours: Readonly<Record<string, 'green' | 'yellow' | 'blue' | 'faint'>> = {
  'powered on': 'green',
  paused: 'yellow',
  suspended: 'blue',
  'powered off': 'faint',
}

export const vmColumns: readonly Column<VmRow>[] = [
  { head: 'ID', cell: ({ id }) => id },
  { head: 'NAME', cell: ({ name = '' }) => name },
  { head: 'STATE', cell: ({ state }) => state, colour: ({ state }) => stateColours[state] },
  { head: 'ADDRESS', cell: ({ address }) => address ?? '' },
  { head: 'CPUS', align: 'right', cell: ({ cpus }) => String(cpus ?? '') },
  { head: 'MEMORY', align: 'right', cell: ({ memoryMiB }) => mebibytes(memoryMiB) },
  { head: 'DISK', align: 'right', cell: ({ diskMiB }) => mebibytes(diskMiB) },
  { head: 'TAG', cell: ({ tag = '' }) => tag },
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
