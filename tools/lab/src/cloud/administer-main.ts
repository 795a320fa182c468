// Executes commands of `skerry admin` in one process, because starting the program takes most of the time of each. One line of JSON in,
// one out; it ends at the end of its input.
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

import { parseAdmin } from '@skerry/command-line'
import { Fault } from '@skerry/fault'
import { runProgram } from '@skerry/service'

import { commands } from '../../../../apps/cloud/src/admin/commands.ts'
import { sourcesOf } from '../../../../apps/cloud/src/command-line/command-context.ts'
import { runParsed, type CommandContext } from '../../../../apps/cloud/src/command-line/command.ts'
import type { AdministerAnswer, AdministerRequest } from './administer.ts'

const now = () => new Date()
const sources = sourcesOf({ now, bytes: randomBytes, uuid: randomUUID })

await runProgram(
  {
    name: 'administer',
    usage: 'usage: administer',
    now,
    async run(_, { log }) {
      const lines = createInterface({ input: process.stdin })
      lines.on('line', (line) => void execute(JSON.parse(line) as AdministerRequest, log))
      await once(lines, 'close')
    },
  },
  process.argv.slice(2),
)

async function execute(
  { id, words, input }: AdministerRequest,
  log: CommandContext['log'],
): Promise<void> {
  const printed: string[] = []
  const print = (text: string) => void printed.push(text)
  const context = { ...sources, log, print, readInput: async () => input }
  const answer = (rest: Omit<AdministerAnswer, 'id'>) =>
    void process.stdout.write(`${JSON.stringify({ id, ...rest })}\n`)
  await run(context, words).then(
    () => answer({ printed: printed.join('\n') }),
    (error: unknown) => answer({ refused: saidOf(error) }),
  )
}

async function run(context: CommandContext, words: readonly string[]): Promise<void> {
  await runParsed(context, commands, parseAdmin(['admin', ...words]))
}

function saidOf(error: unknown): string {
  if (!(error instanceof Fault)) return error instanceof Error ? (error.stack ?? '') : String(error)
  return error.hint === undefined ? error.message : `${error.message}\nnext: ${error.hint}`
}
