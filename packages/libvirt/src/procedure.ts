import type { Codec } from './xdr.ts'

/** One call of libvirt's protocol, as data: what it is called, where it is, what goes in and out. */
export interface Procedure<Args, Ret> {
  readonly name: string
  readonly program: number
  readonly number: number
  readonly args: Codec<Args>
  readonly ret: Codec<Ret>
  readonly stream?: never
}

/** A call that leaves a stream open: `read` brings bytes from the server, `write` takes them there. */
export interface StreamProcedure<Args, Ret> extends Omit<Procedure<Args, Ret>, 'stream'> {
  readonly stream: 'read' | 'write'
}

/** Something the server tells unasked, once somebody has registered for it. */
export interface DomainEvent<E> {
  readonly name: string
  readonly program: number
  readonly number: number
  /** What connectDomainEventCallbackRegisterAny is asked for; the QEMU program's event has none. */
  readonly id: number
  /** What follows the callback's number. */
  readonly body: Codec<E>
}
