import { vmIn } from '@skerry/cloud-client'
import type { Element } from '@skerry/xml'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'
import { stateWord } from '../vms/state-words.ts'
import type { CommandResult } from '../vms/vm-backend.ts'
import { vmNamed } from './named.ts'
import { underWay, type StartedTask } from './task.ts'

/** A VM: the name the user typed, and its current document. */
export interface CloudVm {
  readonly word: string
  readonly href: string
  readonly document: Element
}

export async function findVm(side: CloudSession, word: string): Promise<CloudVm> {
  const { href } = await vmNamed(side, word)
  return { word, href, document: await side.cloud.get(href) }
}

/** The result of an operation: its task if it still runs, otherwise the text and the current state of the VM. */
export async function after(
  { cloud }: CloudSession,
  { word, href }: CloudVm,
  begun: StartedTask | undefined,
  text: string,
  tellState = text === '',
): Promise<CommandResult> {
  if (begun && !begun.ended) return underWay(word, begun.id)
  const { id, name, status } = vmIn(await cloud.get(href))
  const state = stateWord(status)
  const whole = text === '' ? `${word} is ${state}` : tellState ? `${text}, ${state}` : text
  const task = begun && { id: begun.id, status: 'success' }
  return { text: whole, body: { vm: id, name, state, ...(task && { task }) } }
}

/** A missing link: the state of the VM does not allow the action, or the user lacks the right. */
export function notNow(
  { profile }: CloudSession,
  { document, word }: CloudVm,
  done: string,
): Failure {
  const { name, status } = vmIn(document)
  return new Failure('refused', `${name} is ${stateWord(status)}, and cannot be ${done} now`, {
    hint: `skerry info ${word}; a task may be running (skerry task list), or ${profile.user} lacks the right`,
  })
}
