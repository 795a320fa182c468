// Calls external servers for workflows. It holds no secrets or data of the cloud that such a server could steal.
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { rmSync } from 'node:fs'

import {
  closeListener,
  Conditions,
  openHealth,
  runProgram,
  ServerMeter,
  type RunningProgram,
} from '@skerry/service'

import { readConfig } from './config.ts'
import { outLimits } from './fetch-out.ts'
import { makeServer } from './server.ts'

const USAGE = `usage: skerry workflow-egress [FILE]
call external servers for workflows, limited by the allow-list in FILE (default: egress.json), until stopped; SIGHUP reads FILE again`

async function serve(path: string, { log, stopSignal }: RunningProgram): Promise<void> {
  const stopped = stopSignal()
  await using opened = new AsyncDisposableStack()
  let config = await readConfig(path)
  const conditions = new Conditions()
  const configured = (ok: boolean, message: string) =>
    conditions.set('configuration', ok, message, new Date())
  configured(true, 'configuration loaded')
  const reload = async () => {
    try {
      config = await readConfig(path)
      configured(true, 'configuration loaded')
    } catch (error) {
      const message = 'configuration not reloaded, the previous one stays in use'
      log(message, error)
      configured(false, `${message}: ${String(error)}`)
    }
  }
  // One after the other: the last one that begins has the last word.
  let reloaded = Promise.resolve()
  process.on('SIGHUP', () => {
    reloaded = reloaded.then(reload)
  })
  const meter = new ServerMeter('egress', conditions)
  const health = { server: 'egress', listen: config.health, conditions, metrics: meter } as const
  opened.use(await openHealth({ ...health, now: () => performance.now(), log }))
  const server = makeServer({
    answered: (status, seconds) => meter.request('fetch', { method: 'POST', status, seconds }),
    lists: () => config.orgs,
    resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    limits: outLimits,
    log,
  })
  opened.defer(() => closeListener(server))
  // A socket left by a killed process is not in use: a second egress would use another configuration file.
  rmSync(config.listen, { force: true })
  server.listen(config.listen)
  await once(server, 'listening')
  process.stdout.write('egress: ready\n')
  if (!stopped.aborted) await once(stopped, 'abort')
}

await runProgram(
  {
    name: 'skerry workflow-egress',
    usage: USAGE,
    // Its one file is a socket for its user and group; the permissions of the directory decide about everyone else.
    umask: 0o117,
    now: () => new Date(),
    run: ([path = 'egress.json'], running) => serve(path, running),
  },
  process.argv.slice(2),
)
