import { listOf, number, object, text } from '../shape.ts'
import { adminCommand, valued } from './declare.ts'

/** Open screens of VMs. */
export const consoleAdmin = {
  list: adminCommand({
    name: 'admin console list',
    usage: '',
    summary: 'list open screens: VM, user, client address, console server',
    examples: ['sudo skerry admin console list'],
    next: 'skerry admin console set limits how many may be open',
    output: listOf(object({ org: text, user: text })),
  }),
  set: adminCommand({
    name: 'admin console set',
    usage: '',
    summary: 'limit how many screens may be open at once, per VM and per user',
    examples: ['sudo skerry admin console set --per-vm 4 --per-user 20'],
    next: 'skerry admin console list lists the open ones; they stay open',
    options: {
      'per-vm': valued('N', 'open screens of a VM (default: unchanged)'),
      'per-user': valued('N', 'open screens of a user (default: unchanged)'),
    },
    output: object({ perVm: number, perUser: number }),
  }),
} as const
