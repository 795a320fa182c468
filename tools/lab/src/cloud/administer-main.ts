// Executes commands of `skerry admin` in one process, because starting the program takes most of the time of each. One line of JSON in,
// one out; it ends at the end of its input.
import { randomBytes, randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'

import { parseAdmin } from '@skerry/command-line'
import { Fault } from '@skerry/fault'

import { commands } from '../../../../apps/cloud/src/admin/commands.ts'
import { commandContext } from '../../../../apps/cloud/src/command-line/command-context.ts'
import { runParsed, type CommandContext } from '../../../../apps/cloud/src/command-line/command.ts'
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
  run(context, words).then(
    () => answer({ printed: printed.join('\n') }),
    (error: unknown) => answer({ refused: saidOf(error) }),
  )
})

async function run(context: CommandContext, words: readonly string[]): Promise<void> {
  await runParsed(context, commands, parseAdmin(['admin', ...words]))
}

function saidOf(error: unknown): string {
  if (!(error instanceof Fault)) return error instanceof Error ? (error.stack ?? '') : String(error)
  return error.hint === undefined ? error.message : `${error.message}\nnext: ${error.hint}`
}
