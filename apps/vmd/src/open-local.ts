import { join } from 'node:path'

import type { Host } from '@skerry/engine'

import { machineOf, noteBoot, startGuests, stopGuests, type Restore } from './autostart.ts'
import { Forwards } from './forwards.ts'
import { Journal } from './journal.ts'
import { Consoles } from './local/consoles.ts'
import { Meter } from './local/meter.ts'
import type { Local } from './local/route.ts'
import { faultAnswer } from './local/send-fault.ts'
import { Operations } from './operations.ts'
import { tellChanges, tellerOf } from './teller.ts'

/** Longer work that is cut short is found again at the next start. */
const LAST_WORK_MS = 10_000

export interface OpenLocal extends Local, AsyncDisposable {
  /** Ends event streams and screens; what still runs may go on writing. */
  endStreams(): void
}

export interface LocalSettings {
  readonly restore: Restore
  /** 256 bits that nobody can guess, as a word. */
  readonly secret: () => string
  /** Whether every request must carry a token. */
  readonly locked: boolean
}

/** What the local API stands on beside the host: opened, and with all told that happened meanwhile. */
export async function openLocal(
  host: Host,
  { restore, secret, locked }: LocalSettings,
): Promise<OpenLocal> {
  const { clock, ids, note, paths } = host
  const journal = await Journal.open({ directory: join(paths.data, 'journal'), clock, note })
  const failure = (error: unknown, id: string) => {
    note(`operation ${id}`, error)
    return faultAnswer(error, id).body
  }
  const operations = new Operations(journal, clock, () => ids.uuid(), failure)
  const teller = tellerOf(journal, host)
  try {
    await noteBoot(journal, await machineOf(host), restore)
    await teller.tell()
    await operations.settle((id) => {
      const vm = journal.known.vms.get(id)
      const record = host.records.get(id)
      return vm && record && { power: vm.power, made: record.createdAt }
    })
  } catch (error) {
    // On a full disk VMs can still be stopped and deleted, which is what it takes.
    note('what happened meanwhile could not be written down', error)
  }
  const forwards = await Forwards.open(host)
  const consoles = new Consoles({ host, secret, locked })
  const ended = new AbortController()
  const telling = tellChanges(teller, host, ended.signal)
  const tell = () => teller.tell()
  startGuests(journal, host, tell).catch((error: unknown) => note('guests were not started', error))
  return {
    host,
    forwards,
    journal,
    teller,
    operations,
    meter: new Meter(host, journal, operations),
    consoles,
    stopGuests: (way) => stopGuests(journal, host, way),
    endStreams() {
      journal.endReaders()
      consoles[Symbol.dispose]()
    },
    async [Symbol.asyncDispose]() {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, LAST_WORK_MS)
      await Promise.race([operations.idle(), late.promise])
      clearTimeout(timer)
      await forwards[Symbol.asyncDispose]()
      ended.abort()
      await telling
      await journal[Symbol.asyncDispose]()
    },
  }
}
