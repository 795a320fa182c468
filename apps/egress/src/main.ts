// egress CONFIG: calls other people's servers for workflows, and holds nothing of ours that one of them could want.
import { lookup } from 'node:dns/promises'
import { rmSync } from 'node:fs'

import { readConfig } from './config.ts'
import { outLimits } from './fetch-out.ts'
import { makeServer } from './server.ts'

const [path = 'egress.json'] = process.argv.slice(2)
let config = readConfig(path)
const say = (what: string, cause: unknown) =>
  void process.stderr.write(`egress: ${what}: ${String(cause)}\n`)

const server = makeServer({
  lists: () => config.orgs,
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  limits: outLimits,
  say,
})
// What a killed one left is in nobody's use: two of them would be started with two files.
rmSync(config.listen, { force: true })
process.umask(0o177)
server.listen(config.listen, () => void process.stdout.write('egress: ready\n'))
process.on('SIGHUP', () => {
  try {
    config = readConfig(path)
  } catch (error) {
    say('the list is left as it was', error)
  }
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close()
    server.closeAllConnections()
  })
}
