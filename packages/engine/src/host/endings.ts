import { Fault } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

import { runTool } from './tool.ts'

const { DomainEventType, DomainEventStoppedDetailType, DomainEventShutdownDetailType } = libvirt

/** A libvirt lifecycle event of a domain. */
export interface LifeEvent {
  readonly event: number
  readonly detail: number
}

/**
 * Records why domains stopped, as far as events showed it. Afterwards, a guest that shut down by itself looks the same as one
 * that was asked to, and as one whose QEMU was terminated by a signal. They can be distinguished only while it happens.
 */
export class Endings {
  /** Whether the guest initiated the shutdown, for domains that are stopping or have stopped. */
  readonly #own = new Map<string, Promise<boolean>>()
  readonly #goesDown: () => Promise<boolean>

  /** `goesDown` returns whether the machine is shutting down: then the system shuts the guests down. */
  constructor(goesDown: () => Promise<boolean>) {
    this.#goesDown = goesDown
  }

  /** `isOrdered`: an operation of ours is changing this VM, so the guest did not initiate the shutdown. */
  hear(domain: string, { event, detail }: LifeEvent, isOrdered: boolean): void {
    switch (event) {
      case DomainEventType.started:
      case DomainEventType.undefined:
        this.#own.delete(domain)
        return
      case DomainEventType.shutdown:
        // The detail is needed: QEMU also shuts down cleanly when it receives a signal.
        this.#decide(domain, !isOrdered && detail === DomainEventShutdownDetailType.guest)
        return
      case DomainEventType.stopped:
        if (detail !== DomainEventStoppedDetailType.shutdown) this.#decide(domain, false)
        else if (!this.#own.has(domain)) this.#decide(domain, !isOrdered)
        return
      default:
    }
  }

  /** For a domain that libvirt reports as shut down; true unless an event showed otherwise. */
  async isOwn(domain: string): Promise<boolean> {
    return (await this.#own.get(domain)) ?? true
  }

  #decide(domain: string, may: boolean): void {
    const own = async () => {
      try {
        return may && !(await this.#goesDown())
      } catch {
        // If the machine's state is unknown, assume that the guest did not initiate it.
        return false
      }
    }
    this.#own.set(domain, own())
  }
}

/** systemd answers at once unless the machine is overloaded. */
const TIMEOUT_MS = 5000

/** Whether this machine is shutting down. A machine without systemd reports nothing and counts as up. */
export async function isGoingDown(): Promise<boolean> {
  try {
    const words = ['show', '--property=SystemState', '--value']
    return (await runTool('systemctl', words, { timeoutMs: TIMEOUT_MS })).trim() === 'stopping'
  } catch (error) {
    if (error instanceof Fault && error.kind === 'unavailable') return false
    throw error
  }
}
