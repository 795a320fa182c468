import { readFileSync } from 'node:fs'

import { childrenOf } from '../bench/processor.ts'

export type OvnProgram = 'northbound' | 'southbound' | 'northd'

/** The pids of the programs of OVN that a network server runs now. */
export function ovnProgramsOf(server: number): Readonly<Partial<Record<OvnProgram, number>>> {
  const found = childrenOf(server).flatMap((pid): [OvnProgram, number][] => {
    const kind = kindOf(readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    return kind === undefined ? [] : [[kind, pid]]
  })
  return Object.fromEntries(found)
}

/** Undefined for a tool that it runs for a moment. */
function kindOf(command: string): OvnProgram | undefined {
  if (command.includes('ovn-northd')) return 'northd'
  if (!command.includes('ovsdb-server\0')) return undefined
  return command.includes('/nb.db\0') ? 'northbound' : 'southbound'
}
