import type { HostId } from '@skerry/vm'

/** The state of the cloud as one cell sees it at one heartbeat. */
export interface Scene {
  readonly cell: string
  /** The cells that are alive, including this one. */
  readonly cells: readonly { readonly id: string; readonly fit: boolean }[]
  /** The joined hosts, those without a follower for longest first. `follower`: the cell with a valid lease. */
  readonly hosts: readonly { readonly id: HostId; readonly follower: string | null }[]
  /** Cells that lost contact with a host and leave it to others for now. */
  readonly standingBack: readonly { readonly cell: string; readonly host: HostId }[]
  /** Hosts of this cell that have been silent for too long. */
  readonly silent: ReadonlySet<HostId>
}

export interface Leases {
  /** Whether this cell takes hosts and tasks. An unfit cell does so only if no cell is fit. */
  readonly works: boolean
  /** Silent here, and another cell may reach it: this cell stands back from it. */
  readonly letGo: readonly HostId[]
  /** Reached here, but another cell should have it. */
  readonly giveBack: readonly HostId[]
  readonly take: readonly HostId[]
}

/** Decides which hosts this cell lets go, gives back and takes. */
export function decideLeases({ cell, cells, hosts, standingBack, silent }: Scene): Leases {
  const mine = hosts.filter(({ follower }) => follower === cell).map(({ id }) => id)
  const fit = cells.filter((each) => each.fit)
  const pool = (fit.length > 0 ? fit : cells).map(({ id }) => id)
  const others = pool.filter((id) => id !== cell)
  const works = pool.includes(cell)
  if (!works) return { works, letGo: [], giveBack: mine, take: [] }

  const keyOf = (principal: string, host: HostId) => `${host} ${principal}`
  const back = new Set(standingBack.map((each) => keyOf(each.cell, each.host)))
  const letGo = mine.filter(
    (id) => silent.has(id) && others.some((other) => !back.has(keyOf(other, id))),
  )
  for (const id of letGo) back.add(keyOf(cell, id))

  const working = [cell, ...others]
  const ableFor = new Map(
    hosts.map(({ id }) => {
      const able = working.filter((principal) => !back.has(keyOf(principal, id)))
      // All of them lost it: each keeps trying, otherwise no cell would notice its return.
      return [id, able.length > 0 ? able : working] as const
    }),
  )
  const room = roomOf(working, ableFor, hosts)
  for (const _ of letGo) room.add(cell, 1)
  const kept = mine.filter((id) => !letGo.includes(id))
  const wanted = (id: HostId) =>
    ableFor.get(id)?.some((principal) => principal !== cell && room.of(principal) > 0) ?? false
  const giveBack = kept
    .filter((id) => wanted(id))
    .toSorted()
    .toReversed()
    .slice(0, Math.max(0, -room.of(cell)))
  const free = hosts
    .filter(({ id, follower }) => follower === null && ableFor.get(id)?.includes(cell))
    .map(({ id }) => id)
  // Beyond its share, a cell takes the hosts for which no other cell has capacity.
  const [shared, orphans] = [free.filter(wanted), free.filter((id) => !wanted(id))]
  const take = [...orphans, ...shared].slice(0, Math.max(orphans.length, room.of(cell)))
  return { works, letGo, giveBack, take }
}

/** How many more hosts each cell may take: its share of the hosts it can follow, minus those it has. */
function roomOf(
  cells: readonly string[],
  ableFor: ReadonlyMap<HostId, readonly string[]>,
  hosts: Scene['hosts'],
) {
  const room = new Map<string, number>()
  for (const cell of cells) {
    let share = 0
    for (const able of ableFor.values()) if (able.includes(cell)) share += 1 / able.length
    const held = hosts.filter(({ follower }) => follower === cell).length
    // Three thirds do not sum up to exactly 1 in floating point.
    room.set(cell, Math.ceil(share - 1e-6) - held)
  }
  const of = (cell: string) => room.get(cell) ?? 0
  return { of, add: (cell: string, by: number) => void room.set(cell, of(cell) + by) }
}
