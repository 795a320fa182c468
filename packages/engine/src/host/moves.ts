import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { syncDirectory, writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import type { Connection } from '@skerry/libvirt'
import { isUuid, type ArrivalStage, type DepartureStage, type VmId } from '@skerry/vm'

import type { Owner } from './owner.ts'
import { movesDirectory, type Paths } from './paths.ts'
import { makeDirectory, PRIVATE_DIRECTORY } from './private-files.ts'
import { readWhole } from './record.ts'

const FORMAT = 1
/** The target keeps its answer for as long as a source may ask for it. */
const ANSWER_MS = 90 * 24 * 3_600_000

interface Move {
  /** A UUID chosen by the source; both hosts identify the move by it. */
  readonly move: string
  readonly id: VmId
  readonly owner: Owner
  /** The guest's power state before the move. */
  readonly power: 'on' | 'paused'
  readonly changedAt: string
}

/** A move away from this host. */
export interface DepartingVm extends Move {
  readonly side: 'source'
  readonly stage: DepartureStage
  /** The name of the target host. */
  readonly to: string
  /** libvirt's migration flags. */
  readonly flags: number
}

/** A move to this host. */
export interface ArrivingVm extends Move {
  readonly side: 'target'
  readonly stage: ArrivalStage
  /** The domain XML to define here; unset once it is defined. */
  readonly definition?: string | undefined
}

/** This host's record of which host has a moving guest: one file per move. This process is their only writer. */
export class Moves {
  readonly #directory: string
  readonly #known = new Map<string, DepartingVm | ArrivingVm>()
  /** libvirt aborts an arrival when the connection that prepared it closes. */
  readonly preparedBy = new Map<string, Connection>()

  private constructor(paths: Paths) {
    this.#directory = movesDirectory(paths)
  }

  static async load(paths: Paths): Promise<Moves> {
    const moves = new Moves(paths)
    await makeDirectory(moves.#directory, PRIVATE_DIRECTORY)
    for (const { file, text } of await readWhole(moves.#directory)) {
      const entry = parseMove(file, text)
      moves.#known.set(entry.move, entry)
    }
    return moves
  }

  departures(): DepartingVm[] {
    return [...this.#known.values()].filter((each) => each.side === 'source')
  }

  arrivals(): ArrivingVm[] {
    return [...this.#known.values()].filter((each) => each.side === 'target')
  }

  departure(move: string): DepartingVm | undefined {
    const entry = this.#known.get(move)
    return entry?.side === 'source' ? entry : undefined
  }

  arrival(move: string): ArrivingVm | undefined {
    const entry = this.#known.get(move)
    return entry?.side === 'target' ? entry : undefined
  }

  /** The unfinished move by which a VM may have left this host. */
  departureOf(vm: { readonly id: VmId; readonly owner: Owner }): DepartingVm | undefined {
    return this.departures().find(
      ({ id, owner, stage }) => id === vm.id && owner === vm.owner && stage !== 'stayed',
    )
  }

  /** When this returns, the entry survives a power cut. */
  async write<M extends DepartingVm | ArrivingVm>(entry: M): Promise<M> {
    const text = JSON.stringify({ format: FORMAT, ...entry }, null, 2)
    await writeDurably(this.#file(entry.move), `${text}\n`)
    this.#known.set(entry.move, entry)
    if (entry.stage !== 'awaiting') this.preparedBy.delete(entry.move)
    return entry
  }

  async remove({ move }: Pick<Move, 'move'>): Promise<void> {
    await rm(this.#file(move), { force: true })
    await syncDirectory(this.#directory)
    this.#known.delete(move)
    this.preparedBy.delete(move)
  }

  /** Drops answers that no source asks for any more. */
  async forgetOld(now: Date): Promise<void> {
    const before = new Date(now.getTime() - ANSWER_MS).toISOString()
    for (const arrival of this.arrivals()) {
      if (arrival.stage !== 'awaiting' && arrival.changedAt < before) await this.remove(arrival)
    }
  }

  #file(move: string): string {
    return join(this.#directory, `${requireMoveId(move)}.json`)
  }
}

/** A move id comes from another host and becomes a file name. */
export function requireMoveId(move: string): string {
  if (isUuid(move)) return move
  throw new Fault('invalid', 'a move id must be a UUID in lower case')
}

function parseMove(file: string, text: string): DepartingVm | ArrivingVm {
  try {
    const { format, ...entry } = JSON.parse(text) as (DepartingVm | ArrivingVm) & { format: number }
    if (format !== FORMAT) throw new Error(`its format is ${format}, this program reads ${FORMAT}`)
    if (`${entry.move}.json` !== basename(file)) throw new Error(`it describes move ${entry.move}`)
    return entry
  } catch (cause) {
    throw new Fault('unavailable', `the move file ${file} cannot be read`, {
      cause,
      hint: 'restore it from a backup: without it this host does not know whether it has the guest',
    })
  }
}
