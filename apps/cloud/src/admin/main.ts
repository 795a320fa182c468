// Runs one command of `skerry admin`. The CLI has parsed its line and passes the result as JSON in the only argument.
import { randomBytes, randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'

import { Fault } from '@skerry/fault'
import { runProgram } from '@skerry/service'

import { sourcesOf } from '../command-line/command-context.ts'
import { runParsed, type ParsedAdminCommand } from '../command-line/command.ts'
import { commands } from './commands.ts'

const now = () => new Date()

await runProgram(
  {
    name: 'skerry',
    usage: 'usage: skerry admin COMMAND',
    now,
    async run([parsed = ''], { log }) {
      const command = JSON.parse(parsed) as ParsedAdminCommand
      const print = (line: string) => void process.stdout.write(`${line}\n`)
      const context = {
        ...sourcesOf({ now, bytes: randomBytes, uuid: randomUUID }),
        log,
        print,
        readInput: () => text(process.stdin),
      }
      try {
        await runParsed(context, commands, command)
      } catch (error) {
        if (command.json && error instanceof Fault) {
          const { message, hint, kind } = error
          const reason = kind === 'invalid' ? 'usage' : 'refused'
          print(JSON.stringify({ reason, kind, message, hint }))
        }
        throw error
      }
    },
  },
  process.argv.slice(2),
)
