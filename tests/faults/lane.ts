// One client that is never idle: errand after errand around one running guest.
import type { Chance } from './chance.ts'
import {
  clone,
  create,
  forget,
  keep,
  look,
  map,
  power,
  remove,
  revert,
  share,
  unmap,
} from './errands.ts'
import { insist, type Engines, type Errand, type Tally } from './insist.ts'

/** A running guest is cloned only so often before its chain of layers is long enough. */
const CLONES_MAX = 2

export interface LaneOptions {
  readonly engines: Engines
  /** A guest that runs and goes on running. */
  readonly guest: string
  /** What the VMs that it makes are called; nobody else uses it. */
  readonly name: string
  /** A directory of the machine to share. */
  readonly folder: string
  readonly chance: Chance
  readonly tally: Tally
  /** Asked between two errands. */
  readonly isOver: () => boolean
}

/** Runs errands until it is over, then those that take back what it made. */
export async function runLane(options: LaneOptions): Promise<void> {
  const { engines, guest, name, chance, tally, isOver } = options
  let clones = 0
  for (let round = 0; !isOver(); round++) {
    const temporary = `${name}-${round}`
    const rounds = roundsOf(guest, temporary, options.folder)
    const kinds = Object.keys(rounds).filter((kind) => kind !== 'clone' || clones < CLONES_MAX)
    const kind = chance.pick(kinds as [string, ...string[]])
    if (kind === 'clone') clones++
    for (const errand of rounds[kind] ?? []) await insist(engines, errand, tally)
  }
}

/** Each ends as it began: with the guest running and nothing else there. */
function roundsOf(guest: string, temporary: string, folder: string): Record<string, Errand[]> {
  const cloned = `${temporary}-c`
  return {
    create: [create(temporary), remove(temporary)],
    clone: [clone(guest, temporary), remove(temporary)],
    cloneOff: [create(temporary), clone(temporary, cloned), remove(temporary), remove(cloned)],
    power: [
      ...[create(temporary), power(temporary, 'on'), power(temporary, 'pause')],
      ...[power(temporary, 'unpause'), power(temporary, 'reset'), power(temporary, 'off')],
      remove(temporary),
    ],
    suspend: [
      ...[create(temporary), power(temporary, 'on'), power(temporary, 'suspend')],
      ...[power(temporary, 'on'), remove(temporary)],
    ],
    memory: [keep(guest, 'memory', true), forget(guest, 'memory')],
    disk: [keep(guest, 'disk', false), forget(guest, 'disk')],
    off: [create(temporary), keep(temporary, 'off', false), remove(temporary)],
    revert: [
      ...[create(temporary), power(temporary, 'on'), keep(temporary, 'kept', true)],
      ...[revert(temporary, 'kept'), forget(temporary, 'kept'), remove(temporary)],
    ],
    folders: [share(guest), map(guest, 'docs', folder), unmap(guest, 'docs')],
    look: [look(guest)],
  }
}
