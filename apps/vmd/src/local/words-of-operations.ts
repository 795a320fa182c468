import { Type } from '@skerry/schema'

import type { JournalEvent, JournalOperation } from '../journal/journal-state.ts'
import { powerWord, Refusal } from './words.ts'

export const OperationBody = Type.Object({
  id: Type.String(),
  name: Type.String(),
  vm: Type.Optional(Type.String()),
  state: Type.Union([Type.Literal('running'), Type.Literal('succeeded'), Type.Literal('failed')]),
  progress: Type.Integer({ minimum: 0, maximum: 100 }),
  started: Type.String(),
  ended: Type.Optional(Type.String()),
  result: Type.Optional(Type.Unknown()),
  error: Type.Optional(Refusal),
})

/** The goal is internal. */
export const operationBody = (operation: JournalOperation): object =>
  Object.fromEntries(Object.entries(operation).filter(([key]) => key !== 'goal'))

/** The form of an event on the wire: flattened, and power states in the words of this API. */
export function eventBody(event: JournalEvent): object {
  const { id, at, type } = event
  if (type === 'vm.created' || type === 'vm.changed') {
    const { name, tag, power } = event.now
    return { id, at, type, vm: event.vm, name, tag, state: powerWord[power] }
  }
  if (type === 'vm.power') return { id, at, type, vm: event.vm, state: powerWord[event.power] }
  if (type !== 'operation') return event
  const { operation } = event
  const { vm } = operation
  return { id, at, type, ...(vm && { vm }), operation: operationBody(operation) }
}
