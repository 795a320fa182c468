// A client of vmd that offers what an engine offers, over HTTP, and records the changes that were answered as done.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault, type FaultKind } from '@skerry/fault'
import type { LabHost } from '@skerry/lab'
import type { PowerCommand, PowerState } from '@skerry/vm'

import { curlOn, NoAnswer, type Answer, type Curl } from '../accept/curl.ts'
import { EngineGone } from '../guest/engine.ts'
import type { Driven, Ended, NewFolder, NewSnapshot, NewVm, Program } from './driven.ts'

/** A change that was answered as done: its event must be in the stream. */
export interface Answered {
  readonly vm: string
  readonly type: string
  /** The resulting power state, in the API's words, if there is one. */
  readonly state?: string
}

export interface NewForward {
  readonly hostPort: number
  readonly guestPort: number
}

interface Row {
  readonly sharing: boolean
  readonly boot: string | null
  readonly tag: string
}

const PING_AGAIN_MS = 300

const kinds: Readonly<Record<number, FaultKind>> = {
  400: 'invalid',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  503: 'unavailable',
  504: 'timed-out',
}
const powers: Readonly<Record<string, PowerState>> = {
  'powered off': 'off',
  'powered on': 'on',
  paused: 'paused',
  suspended: 'suspended',
}

export class VmdClient implements Driven {
  readonly #host: LabHost
  readonly #curl: Curl
  readonly #answered: Answered[]

  constructor(host: LabHost, answered: Answered[]) {
    this.#host = host
    this.#curl = curlOn(() => host)
    this.#answered = answered
  }

  async createVm(requested: NewVm): Promise<void> {
    await this.ask(this.#curl.post('/api/vms', requested))
    this.#answered.push({ vm: requested.id, type: 'vm.created' })
  }

  async cloneVm({ id, parent }: { readonly id: string; readonly parent: string }): Promise<void> {
    await this.ask(this.#curl.post('/api/vms', { id, parentid: parent }))
    this.#answered.push({ vm: id, type: 'vm.created' })
  }

  async deleteVm(id: string): Promise<void> {
    // A running VM cannot be deleted; a client powers it off first.
    const power = await this.readPower(id)
    if (power === 'on' || power === 'paused') await this.changePower(id, 'off')
    await this.ask(this.#curl.remove(`/api/vms/${id}`))
    this.#answered.push({ vm: id, type: 'vm.deleted' })
  }

  listVms(): Promise<unknown> {
    return this.read('/api/vms')
  }

  async readVm(id: string): Promise<Row> {
    const [row] = (await this.read(`/api/vms?view=full&id=${id}`)) as Row[]
    if (row) return row
    throw new Fault('not-found', `there is no VM ${id}`)
  }

  readStats(id: string): Promise<unknown> {
    return this.read(`/api/vms/${id}/stats`)
  }

  async configureVm(id: string, settings: { readonly tag: string }): Promise<void> {
    await this.ask(this.#curl.patch(`/api/vms/${id}`, settings))
    this.#answered.push({ vm: id, type: 'vm.settings' })
  }

  async changePower(id: string, command: PowerCommand): Promise<void> {
    if (command === 'reset' || command === 'reboot') {
      await this.ask(this.#curl.post(`/api/vms/${id}/${command}`))
      return
    }
    const body = await this.ask(this.#curl.patch(`/api/vms/power/${id}`, command))
    const { message: state } = body as { message: string }
    this.#answered.push({ vm: id, type: 'vm.power', state })
  }

  async readPower(id: string): Promise<PowerState> {
    const { message } = (await this.read(`/api/vms/power/${id}`)) as { message: string }
    const power = powers[message]
    if (power === undefined) throw new Error(`vmd has a new word for power: ${message}`)
    return power
  }

  async createSnapshot(id: string, requested: NewSnapshot): Promise<void> {
    await this.#change(id, 'snapshots', this.#curl.post(`/api/vms/${id}/snapshots`, requested))
  }

  async revertSnapshot(id: string, name: string): Promise<void> {
    const path = `/api/vms/${id}/snapshots/${name}/revert`
    await this.#change(id, 'snapshots', this.#curl.post(path))
  }

  async removeSnapshot(id: string, name: string): Promise<void> {
    await this.#change(id, 'snapshots', this.#curl.remove(`/api/vms/${id}/snapshots/${name}`))
  }

  async listSnapshots(id: string): Promise<readonly { readonly name: string }[]> {
    return (await this.read(`/api/vms/${id}/snapshots`)) as { name: string }[]
  }

  async enableSharing(id: string): Promise<void> {
    await this.#change(id, 'folders', this.#curl.patch(`/api/vms/${id}/folders`, 'true'))
  }

  async addFolder(id: string, folder: NewFolder): Promise<void> {
    await this.#change(id, 'folders', this.#curl.post(`/api/vms/${id}/folders`, folder))
  }

  async removeFolder(id: string, guestPath: string): Promise<void> {
    await this.#change(id, 'folders', this.#curl.remove(`/api/vms/${id}/folders/${guestPath}`))
  }

  async listFolders(id: string): Promise<readonly { readonly guestPath: string }[]> {
    const paths = (await this.read(`/api/vms/${id}/folders`)) as string[]
    return paths.map((guestPath) => ({ guestPath }))
  }

  async addForward(id: string, forward: NewForward): Promise<void> {
    await this.#change(id, 'forwards', this.#curl.post(`/api/vms/${id}/forwards`, forward))
  }

  async removeForward(id: string, hostPort: number): Promise<void> {
    await this.#change(id, 'forwards', this.#curl.remove(`/api/vms/${id}/forwards/${hostPort}`))
  }

  async listForwards(id: string): Promise<readonly NewForward[]> {
    return (await this.read(`/api/vms/${id}/forwards`)) as NewForward[]
  }

  async importTemplate(name: string, file: string): Promise<void> {
    const path = name === 'default' ? '/api/templates?default' : '/api/templates'
    await this.ask(this.#curl.post(path, { ...(name !== 'default' && { name }), file }))
  }

  async deleteTemplate(name: string): Promise<void> {
    await this.ask(this.#curl.remove(`/api/templates/${name}`))
  }

  async listTemplates(): Promise<readonly { readonly name: string }[]> {
    return (await this.read('/api/templates')) as { name: string }[]
  }

  async execInGuest(id: string, requested: Program): Promise<Ended> {
    return (await this.ask(this.#curl.post(`/api/vms/${id}/exec`, requested))) as Ended
  }

  async pingGuest(id: string): Promise<boolean> {
    try {
      return (await this.execInGuest(id, { path: '/bin/true', args: [] })).exitCode === 0
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      // Polling a hundred times a second would leave no CPU time for the guests on two cores.
      await sleep(PING_AGAIN_MS)
      return false
    }
  }

  /** The body of a success; a Fault for an error, as an engine throws it, or EngineGone. */
  async ask(requested: Promise<Answer>): Promise<unknown> {
    const answer = await requested.catch((error: unknown) => {
      throw error instanceof NoAnswer ? new EngineGone(error.message) : error
    })
    const { status, body, text } = answer
    if (status < 300) return body
    const { message = text } = (body ?? {}) as { message?: string }
    const kind = kinds[status]
    if (kind === undefined) throw new Error(`vmd answered ${status}: ${message}`)
    throw new Fault(kind, message)
  }

  read(path: string): Promise<unknown> {
    return this.ask(this.#curl.get(path))
  }

  kill(): Promise<void> {
    return this.#host.killVmd()
  }

  log(): string {
    const file = this.#host.vmd?.log ?? `${this.#host.dir}/log/vmd.log`
    return readFileSync(file, 'utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#host.killVmd('SIGTERM')
  }

  async #change(vm: string, part: string, requested: Promise<Answer>): Promise<void> {
    await this.ask(requested)
    this.#answered.push({ vm, type: `vm.${part}` })
  }
}
