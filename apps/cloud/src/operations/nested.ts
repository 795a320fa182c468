import { operation, type Operation } from '../tasks/operation.ts'
import { hostStep } from './host-step.ts'

const switched = (word: 'enable' | 'disable', to: boolean): Operation =>
  operation({
    name: `${word}NestedHypervisor`,
    permission: 'vm:edit',
    action: { path: `action/${word}NestedHypervisor`, rel: word },
    since: '5.1',
    offered: {
      when: ({ nested }) => nested !== to,
      otherwise: `nested virtualisation is already ${word}d`,
    },
    stores: 'nothing',
    forVapp: { none: 'it is a setting of each VM' },
    from: ['POWERED_OFF'],
    task: { name: 'vappUpdateVm', doing: 'Updating', done: 'Updated' },
    withinSeconds: 300,
    doc: to
      ? 'Enables nested virtualisation, from the next start on: the guest can run VMs of its own.'
      : 'Disables nested virtualisation, from the next start on.',
    steps: [
      hostStep(
        'nested',
        { goal: 'nested', to },
        {
          none: 'it is one atomic switch: it is either changed or not',
        },
      ),
    ],
  })

/** Allowed only while the VM is off; setting the current value again is allowed. */
export const nestedOperations: readonly Operation[] = [
  switched('enable', true),
  switched('disable', false),
]
