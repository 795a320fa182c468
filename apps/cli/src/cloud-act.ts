import { linkOf, type Sent } from '@skerry/cloud-client'
import { attribute } from '@skerry/xml'

import type { Kind } from './cloud-named.ts'
import type { CloudSide } from './cloud-side.ts'
import { follow, underWay } from './cloud-task.ts'
import { Failure } from './failure.ts'
import type { Doing, Told } from './verbs.ts'

export interface Act {
  readonly kind: Kind
  readonly href: string
  /** The link that it is done by. */
  readonly rel: string
  readonly method?: 'POST' | 'DELETE'
  readonly sent?: Sent
  /** What it is then: 'turned on'. */
  readonly done: string
}

/** Does what a document has a link for, and waits for its task. What has none cannot be done now, or not by this user. */
export async function actOn(side: CloudSide, act: Act, doing: Doing): Promise<Told> {
  const { kind, href, rel, method = 'POST', sent, done } = act
  const document = await side.cloud.get(href)
  const name = attribute(document, 'name') ?? href
  const where = linkOf(document, rel)
  if (where === undefined) {
    throw new Failure('refused', `${kind.called} ${name} cannot be ${done} now`, {
      hint: `${kind.listed} tells its state; or ${side.profile.user} lacks the right`,
    })
  }
  const begun = await follow(side, await side.cloud.act(method, where, sent), doing)
  if (begun && !begun.ended) return underWay(`${kind.called} ${name}`, begun.id)
  const task = begun && { task: { id: begun.id, status: 'success' } }
  return { text: `${kind.called} ${name} is ${done}`, body: { name, done, ...task } }
}
