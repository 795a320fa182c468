import { randomBytes, randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'

import { reportFault } from '@skerry/service'

import { commandContext } from './command-line/command-context.ts'
import { runCommand } from './command-line/command.ts'
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

try {
  await runCommand(context, commands, process.argv.slice(2))
  // A step that ignores its abort signal would keep the process alive; another cell continues the step.
  if (stopping.signal.aborted) process.exit(0)
} catch (error) {
  reportFault('skerry cloud', error)
}
