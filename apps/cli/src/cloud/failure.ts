import { NoAnswer } from '@skerry/cloud-client'
import type { Fault, FaultKind } from '@skerry/fault'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'

type Of = Pick<CloudSession, 'name' | 'profile'>

/** Hints for faults that the cloud sent without one. */
const hints: Readonly<Partial<Record<FaultKind, (side: Of) => string>>> = {
  unauthenticated: ({ name }) => `log in again: skerry login ${name}`,
  forbidden: ({ profile }) =>
    `ask an administrator of your organisation for a role that has this right for ${profile.user}`,
  'not-found': ({ name }) =>
    `skerry list --on ${name} lists the VMs you have access to; resources of other organisations are not visible`,
  'no-room': () => 'an administrator can check the free capacity: skerry host list',
  'too-many': () => 'wait a moment and try again',
  unavailable: () => 'try again later; started tasks continue: skerry task list',
  'timed-out': () => 'it may still complete: skerry task list',
  canceled: () => 'skerry task list shows who canceled it and when',
}

/** The only place that converts a fault of a cloud into a Failure of the CLI. */
export function failureOf(fault: Fault, side: Of | undefined): Failure {
  const { kind, message, detail } = fault
  if (fault instanceof NoAnswer) {
    const where = side ? `skerry login ${side.name}` : 'skerry login NAME URL'
    const hint =
      detail === 'certificate'
        ? `give its CA certificate: ${where} --ca FILE`
        : 'check the address (skerry profiles shows it) and that the cloud is running'
    return new Failure('unreachable', message, { cause: fault, hint })
  }
  const hint = fault.hint ?? (side && hints[kind]?.(side))
  const reason = kind === 'timed-out' ? 'timedOut' : 'refused'
  return new Failure(reason, message, { cause: fault, hint, body: { kind, message, hint } })
}
