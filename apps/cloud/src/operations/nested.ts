import { hostStep } from '../host-step.ts'
import { operation, type Operation } from '../operation.ts'

const switched = (word: 'enable' | 'disable', to: boolean): Operation =>
  operation({
    name: `${word}NestedHypervisor`,
    permission: 'vm:edit',
    action: { path: `action/${word}NestedHypervisor`, rel: word },
    since: '5.1',
    offered: ({ nested }) => nested !== to,
    from: ['POWERED_OFF'],
    task: { name: 'vappUpdateVm', doing: 'Updating', done: 'Updated' },
    withinSeconds: 300,
    doc: to
      ? 'Lets the guest run guests of its own, from its next start on.'
      : 'Lets the guest run no guests of its own, from its next start on.',
    steps: [
      hostStep(
        'nested',
        { be: 'nested', to },
        {
          none: 'it is one switch: it stays as it was, or it is as was asked',
        },
      ),
    ],
  })

/** Only while the VM is off; a switch that is already so may be asked for again. */
export const nestedOperations: readonly Operation[] = [
  switched('enable', true),
  switched('disable', false),
]
