import type { Operation, Step } from './operation.ts'
import { operations } from './operations.ts'
import { vappOperations } from './vapp-operations.ts'

/** docs/reference/operations.md, made of the table that everything else is made of. */
export function operationsReference(): string {
  return [
    '# Operations of VMs',
    '',
    'Made of `apps/cloud/src/operations.ts` by `npm run reference`; not edited by hand. What holds for all of them:',
    '[operations](../operations.md).',
    '',
    ...operations.flatMap(section),
    '## Of a whole vApp',
    '',
    '| Operation | Asked by | What it does |',
    '|---|---|---|',
    ...vappOperations.map(
      ({ name, action, doc }) => `| ${name} | ${askedBy(name, action)} | ${doc} |`,
    ),
    '',
  ].join('\n')
}

function section(operation: Operation): string[] {
  const { name, action, permission, from, to, task, withinSeconds, noReturn, doc } = operation
  const facts = [
    `Asked by ${askedBy(name, action)}; needs \`${permission}\`.`,
    `From ${from.join(', ')}${to === undefined ? '' : ` to ${to}`}.`,
    `Its task is called \`${task.name}\`; it may take ${withinSeconds} s, then it turns back.`,
    ...(noReturn === undefined ? [] : [`It cannot be canceled once \`${noReturn}\` has begun.`]),
    ...(operation.closes ? ['Nothing can be queued behind it.'] : []),
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

function askedBy(name: string, action: Operation['action']): string {
  if (action) return `\`POST {href}/${action.path}\``
  if (name === 'clone' || name === 'lend') return 'copying a vApp'
  return name === 'delete' ? '`DELETE {href}`' : 'instantiating a template'
}

const undo = ({ undo: how }: Step): string =>
  typeof how === 'function' ? 'yes' : `no: ${how.none}`
