import { mebibytes, type TableColumn } from '@skerry/command-line'

import type { CliContext } from '../command.ts'
import { path } from '../vms/local-client.ts'
import type { VmListRow } from '../vms/vm-list-row.ts'

const stateColours: Readonly<Record<string, 'green' | 'yellow' | 'blue' | 'faint'>> = {
  'powered on': 'green',
  paused: 'yellow',
  suspended: 'blue',
  'powered off': 'faint',
}

const id: TableColumn<VmListRow> = { head: 'ID', cell: (row) => row.id }
const name: TableColumn<VmListRow> = { head: 'NAME', cell: (row) => row.name ?? '' }
const stateAndSize: readonly TableColumn<VmListRow>[] = [
  { head: 'STATE', cell: ({ state }) => state, colour: ({ state }) => stateColours[state] },
  { head: 'ADDRESS', cell: ({ address }) => address ?? '' },
  { head: 'CPUS', align: 'right', cell: ({ cpus }) => String(cpus ?? '') },
  { head: 'MEMORY', align: 'right', cell: ({ memoryMiB }) => mebibytes(memoryMiB) },
  { head: 'DISK', align: 'right', cell: ({ diskMiB }) => mebibytes(diskMiB) },
]

export const vmColumns: readonly TableColumn<VmListRow>[] = [
  id,
  name,
  ...stateAndSize,
  { head: 'TAG', cell: ({ tag = '' }) => tag },
]

/** In a cloud users name VMs by name, and ids are long, so the id is the last column. */
export const cloudVmColumns: readonly TableColumn<VmListRow>[] = [
  name,
  { head: 'VAPP', cell: ({ vapp = '' }) => vapp },
  ...stateAndSize,
  id,
]

/** All VMs, or those matching the query. A vmd without the full view returns ids; then the state of each is read separately. */
export async function readVms(
  { api }: Pick<CliContext, 'api'>,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly VmListRow[]> {
  const requested = new URLSearchParams({ view: 'full', ...query })
  const { body } = await api.ask<readonly (string | VmListRow)[]>(
    'GET',
    `${path('vms')}?${requested.toString()}`,
  )
  return Promise.all(
    body.map(async (row) => (typeof row === 'string' ? { id: row, state: await power(row) } : row)),
  )
  async function power(id: string): Promise<string> {
    const { body } = await api.ask<{ message: string }>('GET', path('vms', 'power', id))
    return body.message
  }
}
