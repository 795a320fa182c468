import { join } from 'node:path'

import type { Host } from '@skerry/engine'

import { Forwards } from './forwards/forwards.ts'
import { machineOf, noteBoot, startGuests, stopGuests, type Restore } from './guests/autostart.ts'
import { keepUsage } from './guests/keep-usage.ts'
import { Journal } from './journal/journal.ts'
import { Operations } from './journal/operations.ts'
import { recordChanges, changeRecorderOf } from './journal/vm-change-recorder.ts'
import { Consoles } from './local/consoles.ts'
import { MachineUi, type MachineUiSettings } from './local/machine-ui.ts'
import { Meter } from './local/meter.ts'
import type { Local } from './local/route.ts'
import { faultAnswer } from './local/send-fault.ts'

/** Work that takes longer is interrupted, and settled at the next start. */
const LAST_WORK_MS = 10_000

export interface OpenLocal extends Local, AsyncDisposable {
  /** Ends event streams and screens; running work may still write events. */
  endStreams(): void
}

export interface LocalSettings {
  readonly restore: Restore
  /** A random secret of 256 bits, as text. */
  readonly secret: () => string
  /** Whether every request must carry a token. */
  readonly locked: boolean
  readonly webUi: MachineUiSettings
}

/** Opens the parts of the local API besides the host, and records all changes that happened meanwhile. */
export async function openLocal(
  host: Host,
  { restore, secret, locked, webUi }: LocalSettings,
): Promise<OpenLocal> {
  const { clock, ids, log, paths } = host
  const journal = await Journal.open({ directory: join(paths.data, 'journal'), clock, log })
  const failure = (error: unknown, id: string) => {
    log(`operation ${id} failed`, error)
    return faultAnswer(error, id).body
  }
  const operations = new Operations(journal, clock, () => ids.uuid(), failure)
  const changeRecorder = changeRecorderOf(journal, host)
  try {
    await noteBoot(journal, await machineOf(host), restore)
    await changeRecorder.record()
    await operations.settle((id) => {
      const vm = journal.known.vms.get(id)
      const record = host.records.get(id)
      return vm && record && { power: vm.power, made: record.createdAt }
    })
  } catch (error) {
    // Even with a full disk VMs can be stopped and deleted, which frees space.
    log('failed to record the changes since the last run', error)
  }
  const forwards = await Forwards.open(host)
  const consoles = new Consoles({ host, secret, locked })
  const ended = new AbortController()
  keepUsage(host, ended.signal)
  const recording = recordChanges(changeRecorder, host, ended.signal)
  const record = () => changeRecorder.record()
  startGuests(journal, host, record).catch((error: unknown) => log('failed to start guests', error))
  return {
    host,
    forwards,
    journal,
    changeRecorder,
    operations,
    meter: new Meter(host, journal, operations),
    consoles,
    webUi: new MachineUi(webUi, secret),
    isLocked: locked,
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
      await recording
      await journal[Symbol.asyncDispose]()
    },
  }
}
