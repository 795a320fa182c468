// A host that loses power during an operation, and the state of its disk afterwards.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { guestImage, startHost, until, type LabHost } from '@skerry/lab'

import { EngineGone, startEngine, type RemoteEngine } from '../guest/engine.ts'
import { readDomains } from './domains.ts'
import { runInGuest } from './guests.ts'
import { layersOf } from './images.ts'
import { leftovers } from './leftovers.ts'

/** The engine copies a disk of eight layers; a running parent with that many is not cloned at all. */
const LAYERS_ENOUGH = 6
const BOOT_TIMEOUT_MS = 180_000
/** After all data of the template on its disk. */
const MARKER = { sector: 120_000, byte: 'Z' }

/** An operation to interrupt: its precondition, its request, and its maximum duration. */
export interface Trial {
  readonly what: string
  readonly lastsMs: number
  prepare(engine: RemoteEngine, parent: string, name: string): Promise<unknown>
  act(engine: RemoteEngine, parent: string, name: string): Promise<unknown>
}

/** A parent whose guest has flushed some data, on a host that will lose power. */
export class CutHost implements AsyncDisposable {
  readonly #host: LabHost
  readonly #directory: string
  #engine: RemoteEngine
  #parent = 'parent-0'
  #trials = 0
  /** Cuts that came before a response. */
  interrupted = 0

  private constructor(host: LabHost, directory: string, engine: RemoteEngine) {
    this.#host = host
    this.#directory = directory
    this.#engine = engine
  }

  static async start(): Promise<CutHost> {
    const directory = await mkdtemp(join(tmpdir(), 'cut-'))
    const host = await startHost({ dir: directory })
    const cut = new CutHost(host, directory, await startEngine(host))
    await cut.#engine.importTemplate('default', await guestImage('small'))
    await cut.#engine.createVm({ id: cut.#parent, memoryMiB: 128, diskMiB: 64 })
    await cut.#boot()
    const { sector, byte } = MARKER
    await cut.#inParent(
      `head -c 512 /dev/zero | tr '\\0' ${byte} |
       dd of=/dev/vda bs=512 seek=${sector} conv=fsync,notrunc`,
    )
    // From here on it continuously writes to new places, and flushes each write.
    await cut.#inParent(
      `(for place in $(seq 12300 14000); do
         dd if=/dev/urandom of=/dev/vda bs=4k count=16 seek=$place conv=fsync,notrunc
       done) >/dev/null 2>&1 &`,
    )
    return cut
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.powerCut()
    await rm(this.#directory, { recursive: true, force: true })
  }

  /** Cuts the power `afterMs` after the trial began, and checks the recovery of the host. */
  async run(trial: Trial, afterMs: number): Promise<void> {
    const name = `cut-${this.#trials++}`
    await trial.prepare(this.#engine, this.#parent, name)
    const answered = trial.act(this.#engine, this.#parent, name).then(
      () => true,
      (error: unknown) => {
        if (error instanceof EngineGone) return false
        throw error
      },
    )
    // It may be rejected before the power cut; that is checked afterwards.
    answered.catch(() => undefined)
    await sleep(afterMs)
    await this.#host.powerCut()
    if (!(await answered)) this.interrupted++
    await this.#host.powerOn()
    this.#engine = await startEngine(this.#host)
    try {
      await this.#look(name)
    } catch (error) {
      throw new Error(
        `${trial.what}, cut after ${Math.round(afterMs)} ms: ${String(error)}; the engine's log: ${this.#engine.log()}`,
        { cause: error },
      )
    }
  }

  /** Everything is complete or gone, and the data that the guest flushed still exists. */
  async #look(name: string): Promise<void> {
    const ids = (await this.#engine.listVms()).map(({ id }) => id)
    assert.ok(ids.includes(this.#parent as never), 'the parent is gone')
    assert.deepEqual(await leftovers(this.#host, ids), [])
    for (const id of ids) {
      assert.match(await this.#engine.readPower(id), /^(off|suspended)$/)
      await this.#assertMarker(id)
    }
    for (const id of ids.filter((each) => each !== this.#parent)) {
      assert.equal(id, name, 'a VM of an earlier trial came back')
      await this.#engine.deleteVm(id)
    }
    for (const snapshot of await this.#engine.listSnapshots(this.#parent)) {
      await this.#engine.removeSnapshot(this.#parent, snapshot.name)
    }
    await this.#engine.changePower(this.#parent, 'on')
    await this.#engine.changePower(this.#parent, 'off')
    await this.#shorten()
  }

  /** Every clone makes the parent's chain longer; one that is too long is replaced by a copy. */
  async #shorten(): Promise<void> {
    const layers = async (id: string) => {
      const domain = (await readDomains(this.#host)).find((each) => each.id === id)
      return (await layersOf(this.#host, domain?.disk ?? '')).length
    }
    if ((await layers(this.#parent)) < LAYERS_ENOUGH) return
    const old = this.#parent
    for (let copy = 0; this.#parent === old; copy++) {
      const id = `parent-${this.#trials}-${copy}`
      await this.#engine.cloneVm({ id, parent: old })
      if ((await layers(id)) === 1) this.#parent = id
      else await this.#engine.deleteVm(id)
    }
    await this.#engine.deleteVm(old)
  }

  async #assertMarker(id: string): Promise<void> {
    const domain = (await readDomains(this.#host)).find((each) => each.id === id)
    const { sector, byte } = MARKER
    const read = `read -P ${byte.charCodeAt(0)} ${sector * 512} 512`
    const words = ['-r', '-f', 'qcow2', '-c', read, domain?.disk ?? '']
    const { code, stdout } = await this.#host.run(['qemu-io', ...words])
    assert.ok(code === 0 && !/failed/i.test(stdout), `${id} lost what it had made safe: ${stdout}`)
  }

  /** The guest itself boots and finds the data that it wrote at the beginning. */
  async assertGuestRemembers(): Promise<void> {
    await this.#boot()
    const { sector, byte } = MARKER
    const read = `dd if=/dev/vda bs=512 skip=${sector} count=1 | tr -d ${byte} | wc -c`
    assert.equal((await this.#inParent(read)).trim(), '0')
  }

  async #boot(): Promise<void> {
    await this.#engine.changePower(this.#parent, 'on')
    await until('the parent starts', () => this.#engine.pingGuest(this.#parent), BOOT_TIMEOUT_MS)
  }

  #inParent(script: string): Promise<string> {
    return runInGuest(this.#engine, this.#parent, script)
  }
}

const off = () => Promise.resolve()
const on = (engine: RemoteEngine, parent: string) => engine.changePower(parent, 'on')

export const trials = {
  cloneOfOff: {
    what: 'a clone of a VM that is off',
    lastsMs: 120,
    prepare: off,
    act: (engine, parent, id) => engine.cloneVm({ id, parent }),
  },
  cloneOfRunning: {
    what: 'a clone of a VM that runs',
    lastsMs: 200,
    prepare: on,
    act: (engine, parent, id) => engine.cloneVm({ id, parent }),
  },
  snapshotOfOff: {
    what: 'a snapshot of a VM that is off',
    lastsMs: 100,
    prepare: off,
    act: (engine, parent, name) => engine.createSnapshot(parent, { name }),
  },
  snapshotWithMemory: {
    what: 'a snapshot with memory',
    lastsMs: 700,
    prepare: on,
    act: (engine, parent, name) => engine.createSnapshot(parent, { name, memory: true }),
  },
  snapshotOfRunning: {
    what: 'a snapshot without memory of a VM that runs',
    lastsMs: 120,
    prepare: on,
    act: (engine, parent, name) => engine.createSnapshot(parent, { name, memory: false }),
  },
  revert: {
    what: 'a revert',
    lastsMs: 500,
    prepare: async (engine, parent, name) => {
      await on(engine, parent)
      await engine.createSnapshot(parent, { name, memory: true })
    },
    act: (engine, parent, name) => engine.revertSnapshot(parent, name),
  },
  suspend: {
    what: 'a suspend',
    lastsMs: 500,
    prepare: on,
    act: (engine, parent) => engine.changePower(parent, 'suspend'),
  },
  deletion: {
    what: 'a deletion',
    lastsMs: 120,
    prepare: async (engine, parent, id) => {
      await engine.cloneVm({ id, parent })
      await engine.changePower(id, 'on')
    },
    act: (engine, _, id) => engine.deleteVm(id),
  },
} as const satisfies Record<string, Trial>
