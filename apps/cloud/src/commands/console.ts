import { copyFile, mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { Fault } from '@skerry/fault'
import { openDatabase } from '@skerry/postgres'
import { listenAddress, writeDurably, type ListenAddress } from '@skerry/service'

import { maybe, needed, type Asked, type Command, type CommandWorld } from '../command.ts'
import { basesOf, type Config } from '../config.ts'
import { identityFiles, makeControl, makeServer } from '../identity/issuers.ts'
import { namedBy } from '../identity/renew-cell.ts'
import { scramVerifier } from '../identity/scram.ts'
import { requireApart } from '../own-host.ts'
import { keepConsoleLogin, keepConsoleMachine } from '../store/console-machines.ts'
import type { Database } from '../store/database.ts'
import { readCloud } from '../store/machines.ts'
import { reachable, requireIssuers } from './issuing-cell.ts'
import { withStore } from './with-store.ts'

/** What apps/console reads. */
interface ConsoleConfig {
  readonly name: string
  /** Where people reach it. Pages of this origin, and of no other, may open screens. */
  readonly page: string
  readonly listen: ListenAddress
  readonly database: string
  readonly identity: string
  readonly renewFrom: readonly ListenAddress[]
}

/** Beside what is before it in the login, which may have 63 letters. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,29}$/
const HTTPS_PORT = 443

export const makeConsole: Command = {
  name: 'console',
  words: [],
  options: {
    name: 'NAME',
    out: 'DIR',
    page: 'https://HOST[:PORT]',
    listen: 'ADDRESS:PORT',
    database: 'postgres://HOST:PORT/NAME',
  },
  summary:
    'issues certificates, configuration and database login of a console, on a machine that has the issuers; again by the same name, new ones',
  run: (world, asked) =>
    withStore(asked, async (db, config) => {
      const { name, page, listen } = readAsked(asked, config)
      const out = resolve(needed(asked, 'out'))
      const { id: cloud, epoch } = await readCloud(db)
      const issuers = await requireIssuers(config)
      const host = namedBy(page.href)
      const login = `skerry_console_${cloud.slice(0, 8)}_${name}`
      await keepConsoleMachine(db, { name, host, login })
      const database = await makeLogin(world, { config, login, at: maybe(asked, 'database') })
      const identity = join(out, 'identity')
      await mkdir(identity, { recursive: true, mode: 0o700 })
      for (const kind of ['control', 'hosts'] as const) {
        const { cert } = identityFiles[kind]
        await copyFile(join(config.identity, cert), join(identity, cert))
      }
      const { issuing } = world
      const shown = await makeControl(issuers, { cloud, role: 'console', id: name, epoch }, issuing)
      await writeDurably(join(identity, 'console.pem'), shown)
      const server = await makeServer(issuers, [host], issuing)
      await writeDurably(join(identity, identityFiles.server), server)
      const made: ConsoleConfig = {
        ...{ name, page: page.origin, listen, database, identity },
        renewFrom: [reachable(config)],
      }
      const file = join(out, 'console.json')
      await writeDurably(file, `${JSON.stringify(made, null, 2)}\n`)
      report(world, asked, { made, file, config })
    }),
}

function readAsked(asked: Asked, config: Config) {
  const name = needed(asked, 'name')
  if (!NAME.test(name)) {
    throw new Fault('invalid', `--name must be like console-1, of at most 30 letters, not ${name}`)
  }
  const told = needed(asked, 'page')
  const page = URL.parse(told)
  if (page?.protocol !== 'https:' || page.origin !== told.replace(/\/$/, '')) {
    throw new Fault('invalid', `--page must be like https://console.example:8443, not ${told}`)
  }
  for (const base of basesOf(config)) requireApart('--page', namedBy(page.href), base)
  const port = page.port === '' ? HTTPS_PORT : Number(page.port)
  const listen = listenAddress('--listen', maybe(asked, 'listen') ?? `[::]:${port}`)
  return { name, page, listen }
}

/** The way in of a login of its own, with a password that nobody else has seen. */
async function makeLogin(
  { secret, salt }: CommandWorld,
  { config, login, at }: { config: Config; login: string; at: string | undefined },
): Promise<string> {
  const password = secret()
  const url = URL.parse(at ?? config.database)
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new Fault(
      'invalid',
      `--database must be like postgres://db.example:5432/cloud, not ${at}`,
    )
  }
  const owner = openDatabase<Database>({
    ...{ url: config.database, applicationName: 'skerry cloud', size: 1 },
  })
  try {
    await keepConsoleLogin(owner, login, scramVerifier(password, salt()))
  } finally {
    await owner.destroy()
  }
  url.username = login
  url.password = password
  for (const own of ['user', 'password', 'options']) url.searchParams.delete(own)
  return url.href
}

function report(
  { print }: CommandWorld,
  { options }: Asked,
  { made, file, config }: { made: ConsoleConfig; file: string; config: Config },
): void {
  const { name, page } = made
  const { host } = new URL(page)
  if (options['json'] === true) return print(JSON.stringify({ console: name, config: file, page }))
  print(`the console ${name} at ${page} is made; its configuration is ${file}`)
  if (config.console !== host) {
    print(
      `tickets name another place: skerry cloud init --console ${host}, then start the cells again`,
    )
  }
  print(
    `next: bring it to its machine, to the same place, within 7 days, then: skerry console-server --config ${file}`,
  )
}
