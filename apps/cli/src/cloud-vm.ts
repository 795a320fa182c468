import { vmIn } from '@skerry/cloud-client'
import type { Element } from '@skerry/xml'

import { vmNamed } from './cloud-named.ts'
import type { CloudSide } from './cloud-side.ts'
import { underWay, type Begun } from './cloud-task.ts'
import { Failure } from './failure.ts'
import { stateWord } from './state-words.ts'
import type { Told } from './verbs.ts'

/** A VM as the person called it, and as it was seen just now. */
export interface FoundVm {
  readonly word: string
  readonly href: string
  readonly document: Element
}

export async function findVm(side: CloudSide, word: string): Promise<FoundVm> {
  const { href } = await vmNamed(side, word)
  return { word, href, document: await side.cloud.get(href) }
}

/** What there is to say then: of what goes on its task, otherwise the text, and what the VM is now. */
export async function after(
  { cloud }: CloudSide,
  { word, href }: FoundVm,
  begun: Begun | undefined,
  text: string,
  tellState = text === '',
): Promise<Told> {
  if (begun && !begun.ended) return underWay(word, begun.id)
  const { id, name, status } = vmIn(await cloud.get(href))
  const state = stateWord(status)
  const whole = text === '' ? `${word} is ${state}` : tellState ? `${text}, ${state}` : text
  const task = begun && { id: begun.id, status: 'success' }
  return { text: whole, body: { vm: id, name, state, ...(task && { task }) } }
}

/** There is no link: its state stands in the way, or what the user may. */
export function notNow({ profile }: CloudSide, { document, word }: FoundVm, done: string): Failure {
  const { name, status } = vmIn(document)
  return new Failure('refused', `${name} is ${stateWord(status)}, and cannot be ${done} now`, {
    hint: `skerry info ${word}; a task may be under way (skerry task list), or ${profile.user} lacks the right`,
  })
}
