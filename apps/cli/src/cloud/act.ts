import { linkOf, type RequestContent } from '@skerry/cloud-client'
import { attribute } from '@skerry/xml'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'
import type { ChangeOptions, CommandResult } from '../vms/vm-backend.ts'
import type { Kind } from './named.ts'
import { follow, underWay } from './task.ts'

export interface Act {
  readonly kind: Kind
  readonly href: string
  /** The link relation of the action. */
  readonly rel: string
  readonly method?: 'POST' | 'DELETE'
  readonly sent?: RequestContent
  /** Past participle for the messages: 'turned on'. */
  readonly done: string
}

/** Follows an action link of a document and waits for its task. A missing link means: wrong state, or a missing right. */
export async function actOn(
  side: CloudSession,
  act: Act,
  doing: ChangeOptions,
): Promise<CommandResult> {
  const { kind, href, rel, method = 'POST', sent, done } = act
  const document = await side.cloud.get(href)
  const name = attribute(document, 'name') ?? href
  const where = linkOf(document, rel)
  if (where === undefined) {
    throw new Failure('refused', `${kind.called} ${name} cannot be ${done} now`, {
      hint: `check its state: ${kind.listed}; or ${side.profile.user} lacks the right`,
    })
  }
  const begun = await follow(side, await side.cloud.act(method, where, sent), doing)
  if (begun && !begun.ended) return underWay(`${kind.called} ${name}`, begun.id)
  const task = begun && { task: { id: begun.id, status: 'success' } }
  return { text: `${kind.called} ${name} is ${done}`, body: { name, done, ...task } }
}

/** Deletes what a document describes. */
export const remove = (
  side: CloudSession,
  kind: Kind,
  href: string,
  doing: ChangeOptions,
): Promise<CommandResult> =>
  actOn(side, { kind, href, rel: 'remove', method: 'DELETE', done: 'deleted' }, doing)
