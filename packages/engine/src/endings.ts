import * as libvirt from '@skerry/libvirt'

const { DomainEventType, DomainEventStoppedDetailType, DomainEventShutdownDetailType } = libvirt

/** What libvirt tells of a domain's life. */
export interface LifeEvent {
  readonly event: number
  readonly detail: number
}

/**
 * Why domains stopped, as far as it was heard. A guest that leaves by itself looks the same afterwards as one that was asked
 * to, and as one whose QEMU the system ended in good order: only while it happens can they be told apart.
 */
export class Endings {
  /** Whether it was the guest's own wish, for those that are stopping or have stopped. */
  readonly #own = new Map<string, Promise<boolean>>()
  readonly #goesDown: () => Promise<boolean>

  /** Asks whether the machine is going down: then guests are shut down by whoever takes it down. */
  constructor(goesDown: () => Promise<boolean>) {
    this.#goesDown = goesDown
  }

  /** `isOrdered` where somebody here is changing this VM: whatever it does now is not its own wish. */
  hear(domain: string, { event, detail }: LifeEvent, isOrdered: boolean): void {
    switch (event) {
      case DomainEventType.started:
      case DomainEventType.undefined:
        this.#own.delete(domain)
        return
      case DomainEventType.shutdown:
        // A guest says which: QEMU itself leaves in good order when somebody sends it a signal.
        this.#decide(domain, !isOrdered && detail === DomainEventShutdownDetailType.guest)
        return
      case DomainEventType.stopped:
        if (detail !== DomainEventStoppedDetailType.shutdown) this.#decide(domain, false)
        else if (!this.#own.has(domain)) this.#decide(domain, !isOrdered)
        return
      default:
    }
  }

  /** Of one that libvirt calls shut down; true where nothing was heard that says otherwise. */
  async isOwn(domain: string): Promise<boolean> {
    return (await this.#own.get(domain)) ?? true
  }

  #decide(domain: string, may: boolean): void {
    const own = async () => {
      try {
        return may && !(await this.#goesDown())
      } catch {
        // What cannot be found out is not the guest's wish.
        return false
      }
    }
    this.#own.set(domain, own())
  }
}
