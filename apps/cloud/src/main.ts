import { randomBytes, randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'

import { Fault } from '@skerry/fault'

import { runCommand } from './command.ts'
import { commands } from './commands.ts'

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

const world = {
  issuing: {
    clock: { now: () => new Date() },
    // Positive and of a fixed length: the first byte is never 0 and never above 0x7f.
    serial: () => `01${randomBytes(15).toString('hex')}`,
  },
  secret: () => randomBytes(32).toString('base64url'),
  salt: () => randomBytes(16),
  uuid: () => randomUUID(),
  log: (message: string, cause?: unknown) => {
    const chain = cause instanceof Error ? ` ${cause.stack ?? cause.message}` : ''
    process.stderr.write(`${new Date().toISOString()} ${message}${chain}\n`)
  },
  stopped: stopping.signal,
  print: (line: string) => void process.stdout.write(`${line}\n`),
  readInput: () => text(process.stdin),
}

try {
  await runCommand(world, commands, process.argv.slice(2))
  // A step that does not end when it is told to would keep the process; another cell goes on with it.
  if (stopping.signal.aborted) process.exit(0)
} catch (error) {
  if (!(error instanceof Fault)) throw error
  process.stderr.write(
    `skerry cloud: ${error.message}\n${error.hint === undefined ? '' : `next: ${error.hint}\n`}`,
  )
  process.exitCode = error.kind === 'invalid' ? 2 : 1
}
