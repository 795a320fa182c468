// Runs one command of `skerry admin`. The CLI has parsed its line and passes the result as JSON in the only argument.
import { randomBytes, randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'

import { Fault } from '@skerry/fault'
import { reportFault } from '@skerry/service'

import { commandContext } from '../command-line/command-context.ts'
import { runParsed, type ParsedAdminCommand } from '../command-line/command.ts'
import { commands } from './commands.ts'

// Files written by this process are not accessible to other users of the machine.
process.umask(0o077)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

const context = commandContext(
  {
    now: () => new Date(),
    bytes: randomBytes,
    uuid: randomUUID,
    write: (line) => void process.stderr.write(line),
  },
  {
    stopped: stopping.signal,
    print: (line) => void process.stdout.write(`${line}\n`),
    readInput: () => text(process.stdin),
  },
)

const parsed = JSON.parse(process.argv[2] ?? '') as ParsedAdminCommand
try {
  await runParsed(context, commands, parsed)
  if (stopping.signal.aborted) process.exit(0)
} catch (error) {
  if (!(error instanceof Fault)) throw error
  const { message, hint, kind } = error
  const reason = kind === 'invalid' ? 'usage' : 'refused'
  if (parsed.json) context.print(JSON.stringify({ reason, kind, message, hint }))
  reportFault('skerry', error)
}
