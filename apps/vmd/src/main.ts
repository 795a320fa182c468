import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { hostname } from 'node:os'
import { join } from 'node:path'

import { cloudDirectory, defaultPaths, openHost, type Host } from '@skerry/engine'
import { keepRenewed, lifetimes, runProgram, type RunningProgram } from '@skerry/service'

import packageFile from '../package.json' with { type: 'json' }
import { askToStop } from './ask-to-stop.ts'
import { readConfig, usage, type VmdConfig } from './config.ts'
import { renewMembership } from './host/certificate.ts'
import { joinUsage, readJoinConfig } from './host/join-config.ts'
import { joinCloud } from './host/join.ts'
import { openHostApi, type OpenHostApi } from './host/open-host-api.ts'
import { keepOverlayCertificate } from './host/overlay-certificate.ts'
import { Members } from './local/access/members.ts'
import { readToken } from './local/access/token.ts'
import { listenAtFile } from './local/access/unix-socket.ts'
import { buildLocalServer } from './local/server.ts'
import { openLocal } from './open-local.ts'
import { IdleGarbageCollector, wholeCollection } from './process/idle-garbage-collector.ts'
import { requireOnlyOne } from './process/only-one.ts'

const GROUP = 'skerry'
const VERSION = packageFile.version
const SECRET_BYTES = 32
/** Installed beside vmd. */
const WEB_UI = join(import.meta.dirname, '../../web/dist')

async function serve(config: VmdConfig, running: RunningProgram): Promise<void> {
  const { log } = running
  const token = config.tokenFile === undefined ? undefined : await readToken(config.tokenFile)
  const members = new Members(GROUP)
  await requireOnlyOne(join(defaultPaths.run, 'vmd.pid'), process.pid)
  const host = await openMachine(config, running)
  const local = await openLocal(host, {
    restore: config.restore,
    secret: () => randomBytes(SECRET_BYTES).toString('base64url'),
    locked: token !== undefined,
    webUi: {
      name: hostname(),
      version: VERSION,
      path: process.env['PATH'] ?? '',
      directory: WEB_UI,
    },
  }).catch(async (error: unknown) => {
    await host[Symbol.asyncDispose]()
    throw error
  })
  const giveBack = new IdleGarbageCollector(wholeCollection())
  const options = {
    api: { kind: 'loopback', port: config.port } as const,
    admits: async (uid: number) =>
      uid === 0 || uid === config.sudoUid || (await members.read()).uids.has(uid),
    token,
    log,
    requested: () => giveBack.requested(),
  }
  // Exactly these two addresses, never a name that could resolve to another one.
  const servers = [buildLocalServer(local, options), buildLocalServer(local, options)]
  await Promise.all([
    servers[0]?.listen({ port: config.port, host: '127.0.0.1' }),
    servers[1]?.listen({ port: config.port, host: '::1', ipv6Only: true }),
  ])
  if (config.unixSocket !== undefined) {
    const server = buildLocalServer(local, { ...options, api: { kind: 'file' } })
    servers.push(server)
    await listenAtFile(server, config.unixSocket, (await members.read()).gid)
  }
  log(`vmd answers at http://127.0.0.1:${config.port} and http://[::1]:${config.port}`)
  // If the cloud fails, the local API still works.
  const cloud = await openHostApi(host, { ...config.hostApi, version: VERSION, log }).catch(
    (error: unknown) => {
      log('failed to open the host API for the cloud', error)
      return undefined
    },
  )
  // Not earlier: a stop during the start is like a crash at that moment, and the next start repairs what is half done.
  const stopped = running.stopSignal()
  if (cloud) {
    void keepCertificate(cloud, running, stopped)
    void keepOverlay(cloud, running, stopped)
  }
  await once(stopped, 'abort')
  local.endStreams()
  await cloud?.[Symbol.asyncDispose]()
  if (config.onStop !== 'leave') await local.stopGuests(config.onStop)
  await Promise.all(servers.map((server) => server.close()))
  await local[Symbol.asyncDispose]()
  await host[Symbol.asyncDispose]()
}

const openMachine = (config: VmdConfig, { log }: RunningProgram): Promise<Host> =>
  openHost({
    libvirt: config.libvirt,
    bridges: config.bridges,
    uplinks: config.uplinks,
    metadata: config.metadata,
    shutdownTimeoutMs: config.shutdownTimeoutMs,
    clock: { now: () => new Date() },
    ids: { uuid: () => randomUUID() },
    log,
  })

const keepCertificate = (
  cloud: OpenHostApi,
  { log, pause }: RunningProgram,
  stopped: AbortSignal,
): Promise<void> =>
  keepRenewed(
    {
      clock: { now: () => new Date() },
      afterMs: lifetimes.host.renewMs,
      current: () => cloud.membership.identity.cert,
      async renew() {
        await renewMembership(cloudDirectory(defaultPaths), cloud.membership)
        await cloud.renew()
      },
      pause,
      log,
    },
    stopped,
  )

const keepOverlay = (
  cloud: OpenHostApi,
  { log, pause }: RunningProgram,
  stopped: AbortSignal,
): Promise<void> =>
  keepOverlayCertificate(
    {
      paths: defaultPaths,
      membership: () => cloud.membership,
      now: () => new Date(),
      pause,
      log,
    },
    stopped,
  )

async function joinOne(args: readonly string[]): Promise<string> {
  const { invitation, machine } = readJoinConfig(args, hostname())
  const directory = cloudDirectory(defaultPaths)
  const { cloud, host, again } = await joinCloud(invitation, { ...machine, directory })
  return [
    `this machine is ${again ? 'already ' : ''}host ${host} of the cloud ${cloud}`,
    'next: start or restart vmd, so that it opens its API for the cloud',
    '',
  ].join('\n')
}

const isJoin = process.argv[2] === 'join'

await runProgram(
  {
    name: 'skerry vmd',
    usage: isJoin ? joinUsage : usage,
    now: () => new Date(),
    async run(args, running) {
      const print = (text: string) => void process.stdout.write(text)
      if (isJoin) return print(await joinOne(args.slice(1)))
      const config = readConfig(args, process.env)
      if (config.stopGuests === undefined) return serve(config, running)
      return print(await askToStop(config))
    },
  },
  process.argv.slice(2),
)
