import { Fault, type FaultKind } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

const { ErrorCode } = libvirt

/** Maps libvirt's error codes to fault kinds. All others become 'unavailable'. */
const kinds: Readonly<Record<number, FaultKind>> = {
  [ErrorCode.noDomain]: 'not-found',
  [ErrorCode.noDomainSnapshot]: 'not-found',
  [ErrorCode.noNetwork]: 'not-found',
  [ErrorCode.operationInvalid]: 'conflict',
  [ErrorCode.domExist]: 'conflict',
  [ErrorCode.operationAborted]: 'canceled',
  [ErrorCode.operationTimeout]: 'timed-out',
}

/** The only place that converts libvirt's errors to faults. */
export function toFault(error: unknown): unknown {
  if (error instanceof libvirt.LibvirtError) {
    return new Fault(kinds[error.code] ?? 'unavailable', `libvirt: ${error.message}`, {
      cause: error,
    })
  }
  if (error instanceof libvirt.LinkLost) {
    return new Fault('unavailable', 'libvirt disconnected before it answered', {
      cause: error,
      hint: 'retry: the request may or may not have taken effect',
    })
  }
  if (error instanceof libvirt.CallTimedOut) {
    return new Fault('timed-out', 'libvirt did not answer in time', {
      cause: error,
      hint: 'retry: the request may still take effect',
    })
  }
  return error
}

/** Whether a fault is a libvirt error with one of these codes. */
export function saysLibvirt(error: unknown, ...codes: readonly number[]): boolean {
  return (
    error instanceof Fault &&
    error.cause instanceof libvirt.LibvirtError &&
    codes.includes(error.cause.code)
  )
}

/** Whether a fault is an answer of libvirt, not a lost connection or a timeout. */
export const isAnswer = (error: unknown): error is Fault =>
  error instanceof Fault && error.cause instanceof libvirt.LibvirtError
