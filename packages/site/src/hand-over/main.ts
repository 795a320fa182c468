// hand-over USER CONFIG: gives the files of a server to its user. Runs as root before the server starts.
import { readFile } from 'node:fs/promises'

import { Fault } from '@skerry/fault'

import { handOver, userIn } from './hand-over.ts'

const [name = '', config = ''] = process.argv.slice(2)
const user = userIn(await readFile('/etc/passwd', 'utf8'), name)
if (user) {
  // The server itself reports a missing or invalid configuration.
  await handOver(config, user).catch((error: unknown) => {
    if (error instanceof Fault) return refuse(error.message, error.hint ?? '')
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (!isMissing && !(error instanceof SyntaxError)) throw error
  })
} else {
  refuse(`there is no user ${name}`, `useradd --system ${name}`)
}

function refuse(why: string, next: string): void {
  process.stderr.write(`hand-over: ${why}\nnext: ${next}\n`)
  process.exitCode = 1
}
