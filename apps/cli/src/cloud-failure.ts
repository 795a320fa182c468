import { NoAnswer } from '@skerry/cloud-client'
import type { Fault, FaultKind } from '@skerry/fault'

import type { CloudSide } from './cloud-side.ts'
import { Failure } from './failure.ts'

type Of = Pick<CloudSide, 'name' | 'profile'>

/** What helps where the cloud itself did not say. */
const hints: Readonly<Partial<Record<FaultKind, (side: Of) => string>>> = {
  unauthenticated: ({ name }) => `log in again: skerry login ${name}`,
  forbidden: ({ profile }) =>
    `ask an administrator of your organisation for a role that has this right for ${profile.user}`,
  'not-found': ({ name }) =>
    `skerry list --on ${name} shows what there is for you; other organisations’ things are not shown`,
  'no-room': () => 'an administrator sees what is free: skerry host list',
  'too-many': () => 'wait a little, and ask again',
  unavailable: () => 'ask again in a while; what was begun goes on: skerry task list',
  'timed-out': () => 'it may still be done: skerry task list',
  canceled: () => 'skerry task list shows by whom and when',
}

/** The one place where a refusal of a cloud becomes one of the command line. */
export function failureOf(fault: Fault, side: Of | undefined): Failure {
  const { kind, message, detail } = fault
  if (fault instanceof NoAnswer) {
    const where = side ? `skerry login ${side.name}` : 'skerry login NAME URL'
    const hint =
      detail === 'certificate'
        ? `give the certificate of its issuer: ${where} --ca FILE`
        : 'is the address right, and the cloud started there? skerry profiles tells the address'
    return new Failure('unreachable', message, { cause: fault, hint })
  }
  const hint = fault.hint ?? (side && hints[kind]?.(side))
  const reason = kind === 'timed-out' ? 'timedOut' : 'refused'
  return new Failure(reason, message, { cause: fault, hint, body: { kind, message, hint } })
}
