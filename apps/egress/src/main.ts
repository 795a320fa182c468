// egress CONFIG: calls external servers for workflows. It holds no secrets or data of the cloud that such a server could steal.
import { lookup } from 'node:dns/promises'
import { rmSync } from 'node:fs'

import { Conditions, openHealth, ServerMeter } from '@skerry/service'

import { readConfig } from './config.ts'
import { outLimits } from './fetch-out.ts'
import { makeServer } from './server.ts'

const [path = 'egress.json'] = process.argv.slice(2)
let config = readConfig(path)
const say = (what: string, cause: unknown) =>
  void process.stderr.write(`egress: ${what}: ${String(cause)}\n`)

const conditions = new Conditions()
const configured = (ok: boolean, message: string) =>
  conditions.set('configuration', ok, message, new Date())
configured(true, 'configuration loaded')
const meter = new ServerMeter('egress', conditions)
const health = await openHealth({
  server: 'egress',
  listen: config.health,
  conditions,
  metrics: meter,
  now: () => performance.now(),
  log: (message: string) => say(message, ''),
})

const server = makeServer({
  answered: (status, seconds) => meter.request('fetch', { method: 'POST', status, seconds }),
  lists: () => config.orgs,
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  limits: outLimits,
  say,
})
// A socket left by a killed process is not in use: a second egress would use another configuration file.
rmSync(config.listen, { force: true })
// Access for its user and group; the permissions of the directory decide about everyone else.
process.umask(0o117)
server.listen(config.listen, () => void process.stdout.write('egress: ready\n'))
process.on('SIGHUP', () => {
  try {
    config = readConfig(path)
    configured(true, 'configuration loaded')
  } catch (error) {
    say('configuration not reloaded, the previous one stays in use', error)
    configured(false, `configuration not reloaded, the previous one stays in use: ${String(error)}`)
  }
})
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close()
    server.closeAllConnections()
    void health[Symbol.asyncDispose]()
  })
}
