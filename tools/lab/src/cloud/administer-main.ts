// Executes `skerry cloud` commands in one process, because starting the program takes most of the time of each. One line of JSON in,
// one out; it ends at the end of its input.
import { randomBytes, randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'

import { Fault } from '@skerry/fault'

import { commandContext } from '../../../../apps/cloud/src/command-line/command-context.ts'
import { runCommand } from '../../../../apps/cloud/src/command-line/command.ts'
import { commands } from '../../../../apps/cloud/src/commands.ts'
import type { AdministerAnswer, AdministerRequest } from './administer.ts'

process.umask(0o077)
const stopping = new AbortController()
const sources = {
  now: () => new Date(),
  bytes: randomBytes,
  uuid: randomUUID,
  write: (text: string) => void process.stderr.write(text),
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, words, input } = JSON.parse(line) as AdministerRequest
  const printed: string[] = []
  const context = commandContext(sources, {
    stopped: stopping.signal,
    print: (text) => void printed.push(text),
    readInput: async () => input,
  })
  const answer = (rest: Omit<AdministerAnswer, 'id'>) =>
    void process.stdout.write(`${JSON.stringify({ id, ...rest })}\n`)
  runCommand(context, commands, words).then(
    () => answer({ printed: printed.join('\n') }),
    (error: unknown) => answer({ refused: saidOf(error) }),
  )
})

function saidOf(error: unknown): string {
  if (!(error instanceof Fault)) return error instanceof Error ? (error.stack ?? '') : String(error)
  return error.hint === undefined ? error.message : `${error.message}\nnext: ${error.hint}`
}
