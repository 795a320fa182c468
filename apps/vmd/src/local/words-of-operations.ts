import { Type } from 'typebox'

import type { JournalEvent, Operation } from '../known.ts'
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

/** What it is to lead to is ours to know. */
export const operationBody = (operation: Operation): object =>
  Object.fromEntries(Object.entries(operation).filter(([key]) => key !== 'goal'))

/** What is sent of an event: its parts under one roof, and power in the words of this API. */
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
