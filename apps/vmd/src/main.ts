import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

import { defaultPaths, openHost } from '@skerry/engine'
import { Fault } from '@skerry/fault'

import { askToStop } from './ask-to-stop.ts'
import { readConfig, type Config } from './config.ts'
import { GiveBack, wholeCollection } from './give-back.ts'
import { Members } from './local/members.ts'
import { buildLocalServer } from './local/server.ts'
import { readToken } from './local/token.ts'
import { listenAtFile } from './local/unix-socket.ts'
import { logLine } from './log-line.ts'
import { requireOnlyOne } from './only-one.ts'
import { openLocal } from './open-local.ts'

const GROUP = 'skerry'

const log = (message: string, cause?: unknown): void => {
  process.stderr.write(logLine(new Date(), message, cause))
}

async function serve(config: Config): Promise<void> {
  const token = config.tokenFile === undefined ? undefined : await readToken(config.tokenFile)
  const members = new Members(GROUP)
  await requireOnlyOne(join(defaultPaths.run, 'vmd.pid'), process.pid)
  const host = await openHost({
    libvirt: config.libvirt,
    bridges: config.bridges,
    shutdownTimeoutMs: config.shutdownTimeoutMs,
    clock: { now: () => new Date() },
    ids: { uuid: () => randomUUID() },
    note: log,
  })
  const local = await openLocal(host, config.restore).catch(async (error: unknown) => {
    await host[Symbol.asyncDispose]()
    throw error
  })
  const giveBack = new GiveBack(wholeCollection())
  const options = {
    door: { kind: 'loopback', port: config.port } as const,
    admits: async (uid: number) =>
      uid === 0 || uid === config.sudoUid || (await members.read()).uids.has(uid),
    token,
    log,
    asked: () => giveBack.asked(),
  }
  // Exactly these two, and never a name that the machine could resolve to another address.
  const servers = [buildLocalServer(local, options), buildLocalServer(local, options)]
  await Promise.all([
    servers[0]?.listen({ port: config.port, host: '127.0.0.1' }),
    servers[1]?.listen({ port: config.port, host: '::1', ipv6Only: true }),
  ])
  if (config.unixSocket !== undefined) {
    const server = buildLocalServer(local, { ...options, door: { kind: 'file' } })
    servers.push(server)
    await listenAtFile(server, config.unixSocket, (await members.read()).gid)
  }
  log(`vmd answers at http://127.0.0.1:${config.port} and http://[::1]:${config.port}`)
  const stop = async () => {
    local.endStreams()
    if (config.onStop !== 'leave') await local.stopGuests(config.onStop)
    await Promise.all(servers.map((server) => server.close()))
    await local[Symbol.asyncDispose]()
    await host[Symbol.asyncDispose]()
    process.exit(0)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())
}

try {
  const config = readConfig(process.argv.slice(2), process.env)
  if (config.stopGuests === undefined) await serve(config)
  else process.stdout.write(await askToStop(config))
} catch (error) {
  if (!(error instanceof Fault)) throw error
  process.stderr.write(
    `vmd: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`,
  )
  process.exitCode = error.kind === 'invalid' ? 2 : 1
}
