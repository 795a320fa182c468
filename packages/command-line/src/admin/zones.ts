import { listOf, number, object, orNull, text, truth } from '../shape.ts'
import { adminCommand } from './declare.ts'

/** Zones: hosts whose networks one network server configures. */
export const zoneAdmin = {
  info: adminCommand({
    name: 'admin zone info',
    usage: '[NAME]',
    summary:
      'show the state of networks across hosts: which network server holds the lease, what waits for it, which hosts are ready',
    examples: ['sudo skerry admin zone info', 'sudo skerry admin zone info default --json'],
    next: 'skerry admin network-server create adds a network server; skerry doctor on a host shows what it lacks',
    output: object({
      zone: text,
      server: orNull(text),
      held: truth,
      leaseUntil: orNull(text),
      fencingToken: text,
      opened: truth,
      waiting: number,
      oldestSeconds: orNull(number),
      failing: number,
      fault: orNull(text),
      hosts: listOf(object({ name: text, state: text, networks: text, reason: orNull(text) })),
    }),
  }),
} as const
