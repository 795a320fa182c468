import { Fault, type FaultKind } from '@skerry/fault'
import * as libvirt from '@skerry/libvirt'

const { ErrorCode } = libvirt

/** What libvirt's numbers mean to our callers. Everything else is libvirt refusing to work. */
const kinds: Readonly<Record<number, FaultKind>> = {
  [ErrorCode.noDomain]: 'not-found',
  [ErrorCode.noDomainSnapshot]: 'not-found',
  [ErrorCode.noNetwork]: 'not-found',
  [ErrorCode.operationInvalid]: 'conflict',
  [ErrorCode.domExist]: 'conflict',
  [ErrorCode.operationAborted]: 'canceled',
  [ErrorCode.operationTimeout]: 'timed-out',
}

/** The one place where an error of libvirt's becomes one of ours. */
export function toFault(error: unknown): unknown {
  if (error instanceof libvirt.LibvirtError) {
    return new Fault(kinds[error.code] ?? 'unavailable', `libvirt: ${error.message}`, {
      cause: error,
    })
  }
  if (error instanceof libvirt.LinkLost) {
    return new Fault('unavailable', 'libvirt went away before it answered', {
      cause: error,
      hint: 'ask again: what was asked may or may not have been done',
    })
  }
  if (error instanceof libvirt.CallTimedOut) {
    return new Fault('timed-out', 'libvirt did not answer in time', {
      cause: error,
      hint: 'ask again: what was asked may still be done',
    })
  }
  return error
}

/** Whether a fault is libvirt's own answer with this number. */
export function saysLibvirt(error: unknown, ...codes: readonly number[]): boolean {
  return (
    error instanceof Fault &&
    error.cause instanceof libvirt.LibvirtError &&
    codes.includes(error.cause.code)
  )
}
