// hand-over USER CONFIG: gives the files of a server to its user. Runs as root before the server starts.
import { readFile } from 'node:fs/promises'

import { handOver, userIn } from './hand-over.ts'

const [name = '', config = ''] = process.argv.slice(2)
const user = userIn(await readFile('/etc/passwd', 'utf8'), name)
if (user) {
  // The server itself reports a missing or invalid configuration.
  await handOver(config, user).catch((error: unknown) => {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (!isMissing && !(error instanceof SyntaxError)) throw error
  })
} else {
  process.stderr.write(`hand-over: there is no user ${name}\nnext: useradd --system ${name}\n`)
  process.exitCode = 1
}
