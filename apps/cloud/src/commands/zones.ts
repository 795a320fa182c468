import { renderTable, zoneAdmin } from '@skerry/command-line'

import { printRows, runs } from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'
import { readZoneState, type ZoneState } from '../hosts/zone-state.ts'

const serverText = ({ server, held }: ZoneState): string => {
  if (server === null) return 'none yet'
  return held ? server : `none; the last was ${server}`
}

const waitingText = ({ waiting, oldestSeconds }: ZoneState): string =>
  oldestSeconds === null ? '0' : `${waiting}, the oldest for ${oldestSeconds} s`

const failingText = ({ failing, fault }: ZoneState): string =>
  fault === null ? String(failing) : `${failing}: ${fault}`

const columns = [
  { head: 'ZONE', cell: ({ zone }: ZoneState) => zone },
  { head: 'SERVER', cell: serverText },
  { head: 'TOKEN', cell: ({ fencingToken }: ZoneState) => fencingToken },
  { head: 'OPEN', cell: ({ opened }: ZoneState) => (opened ? 'yes' : 'no') },
  { head: 'WAITING', cell: waitingText },
  { head: 'FAILING', cell: failingText },
]

export const zoneInfo = runs(zoneAdmin.info, (context, requested) =>
  withStore(requested, async (db) => {
    const [name = 'default'] = requested.words
    const state = await readZoneState(db, name)
    if (requested.json) return context.print(JSON.stringify(state, null, 2))
    context.print(renderTable(columns, [state]))
    context.print('')
    const hosts = state.hosts.map((host) => ({ ...host }))
    return printRows(context, requested, hosts, ['name', 'state', 'networks', 'reason'])
  }),
)
