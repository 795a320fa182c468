// Parses every hostile document and prints the outcome of each, in a process with limited memory.
import { Fault } from '@skerry/fault'
import { readXml } from '@skerry/xml'

import { hostileDocuments } from './hostile-documents.ts'

/** The outcome of one hostile document. */
export interface HostileOutcome {
  readonly about: string
  readonly outcome: 'refused' | 'read' | 'crashed'
  readonly ms: number
}

// CPU time of this thread, the minimum of three runs: garbage collection may happen in any of them.
const outcomes = hostileDocuments().map(({ about, document }): HostileOutcome => {
  const ms = Math.min(timeOf(document), timeOf(document), timeOf(document))
  return { about, outcome: outcomeOf(document), ms }
})
process.stdout.write(JSON.stringify(outcomes))

function timeOf(document: string): number {
  const start = process.threadCpuUsage()
  outcomeOf(document)
  const { user, system } = process.threadCpuUsage(start)
  return (user + system) / 1000
}

function outcomeOf(document: string): HostileOutcome['outcome'] {
  try {
    readXml(document)
    return 'read'
  } catch (error) {
    return error instanceof Fault && error.kind === 'invalid' ? 'refused' : 'crashed'
  }
}
