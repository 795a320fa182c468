import type { VmTaskKind } from '../domain/task-kind.ts'
import { vappOperations } from '../operations/vapp-operations.ts'
import { operations } from '../operations/vm-operations.ts'
import type { Operation, Step } from '../tasks/operation.ts'

/** Generates docs/reference/operations.md from the table of operations. */
export function operationsReference(): string {
  return [
    '# VM operations',
    '',
    'Generated from `apps/cloud/src/operations` by `npm run reference`; do not edit. For the rules common to all operations see',
    '[consistency](../design/consistency.md).',
    '',
    ...operations.flatMap(section),
    '## vApp operations',
    '',
    '| Operation | Started by | Description |',
    '|---|---|---|',
    ...vappOperations.map(
      ({ name, kind, action, doc }) => `| ${name} | ${askedBy(kind, action)} | ${doc} |`,
    ),
    '',
  ].join('\n')
}

function section(operation: Operation): string[] {
  const { name, kind, action, permission, from, to, task, withinSeconds, noReturn, doc } = operation
  const facts = [
    `Started by ${askedBy(kind, action)}; needs the right \`${permission}\`.`,
    `Allowed in ${from.join(', ')}${to === undefined ? '' : `; leads to ${to}`}.`,
    `Task name: \`${task.name}\`. Timeout: ${withinSeconds} s, then it is rolled back.`,
    ...(noReturn === undefined ? [] : [`It cannot be canceled once \`${noReturn}\` has begun.`]),
    ...(kind === 'delete' ? ['No operation can be queued after it.'] : []),
  ]
  return [
    `## ${name}`,
    '',
    doc,
    ...facts.map((fact) => `- ${fact}`),
    '',
    '| Step | Can be undone |',
    '|---|---|',
    ...operation.steps.map(
      (step) => `| ${step.name}${step.long ? ' (long)' : ''} | ${undo(step)} |`,
    ),
    '',
  ]
}

function askedBy(kind: VmTaskKind, action: Operation['action']): string {
  if (action) return `\`POST {href}/${action.path}\``
  if (kind === 'copy' || kind === 'hold') return 'copying a vApp'
  return kind === 'delete' ? '`DELETE {href}`' : 'instantiating a template'
}

const undo = ({ undo: how }: Step): string =>
  typeof how === 'function' ? 'yes' : `no: ${how.none}`
