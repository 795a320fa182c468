import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { serverAdmin, type Args } from '@skerry/command-line'
import { copyDurably, writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { listenAddress, type ListenAddress } from '@skerry/service'

import { maybe, needed, runs, type CommandContext } from '../command-line/command.ts'
import { httpsOrigin } from '../command-line/https-origin.ts'
import { reachable, requireIssuers } from '../command-line/issuing-cell.ts'
import { makeLogin } from '../command-line/make-login.ts'
import { requireSeparateConsoleHost } from '../command-line/separate-console-host.ts'
import { withStore } from '../command-line/with-store.ts'
import { basesOf, type CloudConfig } from '../config.ts'
import { keepConsoleMachine } from '../identity/console-machines.ts'
import { identityFiles, makeControl, makeServer } from '../identity/issuers.ts'
import { readCloud } from '../identity/machines.ts'
import { namedBy } from '../identity/renew-cell.ts'

/** The configuration file of apps/console. */
interface ConsoleConfig {
  readonly name: string
  /** Public URL. Its own page may open screens. */
  readonly page: string
  /** Other origins whose pages may open screens: that of the web UI. */
  readonly pages: readonly string[]
  readonly listen: ListenAddress
  readonly database: string
  readonly identity: string
  readonly renewFrom: readonly ListenAddress[]
}

/** The database login is a prefix and this name; PostgreSQL limits it to 63 characters. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,29}$/
const HTTPS_PORT = 443
type ConsoleArgs = Args<typeof serverAdmin.createConsoleServer.options>

export const createConsoleServer = runs(serverAdmin.createConsoleServer, (context, requested) =>
  withStore(requested, async (db, config) => {
    const { name, page, listen } = readAsked(requested, config)
    const out = resolve(needed(requested, 'out'))
    const { id: cloud, epoch } = await readCloud(db)
    const issuers = await requireIssuers(config)
    const host = namedBy(page.href)
    const login = `skerry_console_${cloud.slice(0, 8)}_${name}`
    await keepConsoleMachine(db, { name, host, login })
    const database = await makeLogin(context, {
      url: config.database,
      login: { name: login, role: 'skerry_console' },
      at: maybe(requested, 'database'),
    })
    const identity = join(out, 'identity')
    await mkdir(identity, { recursive: true, mode: 0o700 })
    for (const kind of ['control', 'hosts'] as const) {
      const { cert } = identityFiles[kind]
      await copyDurably(join(config.identity, cert), join(identity, cert))
    }
    const { issuing } = context
    const shown = await makeControl(issuers, { cloud, role: 'console', id: name, epoch }, issuing)
    await writeDurably(join(identity, 'console.pem'), shown)
    const server = await makeServer(issuers, [host], issuing)
    await writeDurably(join(identity, identityFiles.server), server)
    const made: ConsoleConfig = {
      name,
      page: page.origin,
      pages: [new URL(config.base).origin],
      listen,
      database,
      identity,
      renewFrom: [reachable(config)],
    }
    const file = join(out, 'console.json')
    await writeDurably(file, `${JSON.stringify(made, null, 2)}\n`)
    report(context, requested, { made, file, config })
  }),
)

function readAsked(requested: ConsoleArgs, config: CloudConfig) {
  const [name = ''] = requested.words
  if (!NAME.test(name)) {
    throw new Fault(
      'invalid',
      `the name must be like console-1, at most 30 characters, not ${name}`,
    )
  }
  const page = httpsOrigin(requested, 'page', 'https://console.example:8443')
  for (const base of basesOf(config)) requireSeparateConsoleHost('--page', namedBy(page.href), base)
  const port = page.port === '' ? HTTPS_PORT : Number(page.port)
  const listen = listenAddress('--listen', maybe(requested, 'listen') ?? `[::]:${port}`)
  return { name, page, listen }
}

function report(
  { print }: CommandContext,
  { json }: Args,
  { made, file, config }: { made: ConsoleConfig; file: string; config: CloudConfig },
): void {
  const { name, page } = made
  const { host } = new URL(page)
  if (json) return print(JSON.stringify({ console: name, config: file, page }))
  print(`created console server ${name} at ${page}; configuration: ${file}`)
  if (config.console !== host) {
    print(
      `screen tickets still point to another console; run skerry admin init --console ${host}, then restart the cells`,
    )
  }
  print(
    `next: copy its directory to the same path on its machine within 7 days, then run: skerry console-server --config ${file}`,
  )
}
