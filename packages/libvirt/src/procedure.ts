import type { Codec } from './xdr.ts'

/** One procedure of libvirt's protocol, as data: its name, its number, its arguments and its result. */
export interface Procedure<Args, Ret> {
  readonly name: string
  readonly program: number
  readonly number: number
  readonly args: Codec<Args>
  readonly ret: Codec<Ret>
  readonly stream?: never
}

/** A call that opens a stream: `read` transfers bytes from the server, `write` to it. */
export interface StreamProcedure<Args, Ret> extends Omit<Procedure<Args, Ret>, 'stream'> {
  readonly stream: 'read' | 'write'
}

/** An event that the server sends to registered clients. */
export interface DomainEvent<E> {
  readonly name: string
  readonly program: number
  readonly number: number
  /** The event id for connectDomainEventCallbackRegisterAny; the QEMU program's event has none. */
  readonly id: number
  /** The body after the callback id. */
  readonly body: Codec<E>
}
