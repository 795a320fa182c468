import { X509Certificate } from 'node:crypto'
import { access, mkdir } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname, join } from 'node:path'

import { Fault } from '@skerry/fault'
import { listenAddress, writeDurably } from '@skerry/service'
import type { Kysely } from 'kysely'

import { maybe, needed, type Asked, type Command, type CommandWorld } from '../command.ts'
import { basesOf, checkConfig, readConfig, type Config } from '../config.ts'
import {
  ensureIssuers,
  identityFiles,
  makeCell,
  makeServer,
  newSealKey,
  readIdentity,
} from '../identity/issuers.ts'
import { hashPassword } from '../identity/password.ts'
import { namesOf } from '../identity/renew-cell.ts'
import { requireApart } from '../own-host.ts'
import { addAdministrator, hasAdministrator } from '../store/accounts.ts'
import type { Database } from '../store/database.ts'
import { readCloud } from '../store/machines.ts'
import { databaseIn, databaseOptions } from './database-in.ts'
import { prepareTables } from './prepare-tables.ts'
import { configFile, withDatabase } from './with-store.ts'

const HTTPS_PORT = 443
const ADMINISTRATOR = { org: 'System', name: 'administrator' } as const

export const init: Command = {
  name: 'init',
  words: [],
  options: {
    base: 'https://NAME:PORT',
    ...databaseOptions,
    temporal: 'ADDRESS:PORT',
    namespace: 'NAME',
    listen: 'ADDRESS:PORT',
    machines: 'ADDRESS:PORT',
    cell: 'NAME',
    identity: 'DIR',
    images: 'DIR',
    console: 'HOST[:PORT]',
    original: 'https://NAME:PORT',
    'original-listen': 'ADDRESS:PORT',
    'password-stdin': true,
  },
  summary:
    'makes a cloud: configuration, issuers, certificates, tables, the first administrator; run again, it changes nothing but where consoles, and clients of the original API, are answered, if that is told',
  async run(world, asked) {
    const file = configFile(asked)
    const known = await isThere(file)
    const before = known ? await readConfig(file) : await newConfig(file, asked)
    const config = withConsole(withOriginal(before, asked), maybe(asked, 'console'))
    await prepareTables(config)
    const password = await withDatabase(config, async (db) => {
      await makeIdentity(world, config, db)
      if (!known || config !== before) {
        await mkdir(dirname(file), { recursive: true })
        await writeDurably(file, `${JSON.stringify(config, null, 2)}\n`)
      }
      return makeAdministrator(world, asked, db)
    })
    report(world, asked, { file, config, password })
  },
}

async function newConfig(file: string, asked: Asked): Promise<Config> {
  const value: Config = {
    base: needed(asked, 'base'),
    cell: maybe(asked, 'cell') ?? 'cell-1',
    listen: listenAddress('--listen', maybe(asked, 'listen') ?? '[::]:443'),
    machines: listenAddress('--machines', maybe(asked, 'machines') ?? '[::]:8444'),
    database: await databaseIn(asked),
    temporal: {
      address: maybe(asked, 'temporal') ?? '127.0.0.1:7233',
      namespace: maybe(asked, 'namespace') ?? 'skerry',
    },
    identity: maybe(asked, 'identity') ?? join(dirname(file), 'identity'),
    images: maybe(asked, 'images') ?? '/var/lib/skerry/cloud-images',
  }
  return checkConfig(value, 'the configuration')
}

/** The same API with the original names, for clients that know no others. Told once, it stays; told again, it is moved. */
function withOriginal(config: Config, asked: Asked): Config {
  const listen = maybe(asked, 'original-listen')
  const base = maybe(asked, 'original') ?? config.original?.base
  if (base === undefined) {
    if (listen === undefined) return config
    throw new Fault('invalid', '--original-listen goes with --original https://NAME:PORT')
  }
  if (maybe(asked, 'original') === undefined && listen === undefined) return config
  const port = URL.parse(base)?.port || HTTPS_PORT
  const told = listen === undefined ? config.original?.listen : undefined
  const original = {
    base,
    listen: told ?? listenAddress('--original-listen', listen ?? `[::]:${port}`),
  }
  return checkConfig({ ...config, original }, 'the configuration')
}

/** Told once, it stays; told again, it is moved. */
function withConsole(config: Config, console: string | undefined): Config {
  const made =
    console === undefined ? config : checkConfig({ ...config, console }, 'the configuration')
  for (const base of made.console === undefined ? [] : basesOf(made)) {
    requireApart('--console', made.console?.replace(/:[0-9]+$/, '') ?? '', base)
  }
  return made
}

async function makeIdentity(
  { issuing, secret }: CommandWorld,
  config: Config,
  db: Kysely<Database>,
): Promise<void> {
  const { identity: directory, images, cell } = config
  const { id: cloud, epoch } = await readCloud(db)
  const hasIssuers = await isThere(join(directory, identityFiles.control.cert))
  if (!hasIssuers && (await hasAdministrator(db))) {
    throw new Fault('conflict', 'this cloud was made before, and its issuers are not here', {
      hint: 'on the machine that has them: skerry cloud cell; or put them back from a backup',
    })
  }
  const issuers = await ensureIssuers(directory, cloud, issuing)
  const cellFile = join(directory, identityFiles.cell)
  if (!(await isThere(cellFile))) {
    await writeDurably(cellFile, await makeCell(issuers, { cloud, id: cell, epoch }, issuing))
  }
  const serverFile = join(directory, identityFiles.server)
  const show = async () =>
    writeDurably(serverFile, await makeServer(issuers, namesOf(config), issuing))
  if (!(await isThere(serverFile))) await show()
  const sealFile = join(directory, identityFiles.seal)
  if (!(await isThere(sealFile))) await writeDurably(sealFile, newSealKey(secret))
  const { name, server } = await readIdentity(directory)
  if (name.cloud !== cloud) {
    throw new Fault(
      'conflict',
      `${directory} is of the cloud ${name.cloud}, the database of ${cloud}`,
    )
  }
  if (!isFor(server.cert, namesOf(config))) await show()
  await mkdir(images, { recursive: true, mode: 0o700 })
}

/** Whether what users are shown is for all of these names. */
function isFor(cert: string, names: readonly string[]): boolean {
  const shown = new X509Certificate(cert)
  return names.every(
    (name) => (isIP(name) === 0 ? shown.checkHost(name) : shown.checkIP(name)) !== undefined,
  )
}

/** The password that was made, or nothing where there was an administrator or the password was given. */
async function makeAdministrator(
  world: CommandWorld,
  { options }: Asked,
  db: Kysely<Database>,
): Promise<string | undefined> {
  if (await hasAdministrator(db)) return undefined
  const isGiven = options['password-stdin'] === true
  const password = isGiven ? (await world.readInput()).trimEnd() : world.secret()
  if (password === '') throw new Fault('invalid', 'the password on standard input is empty')
  const hash = await hashPassword(password, world.salt())
  await addAdministrator(db, { ...ADMINISTRATOR, password: hash })
  return isGiven ? undefined : password
}

function report(
  { print }: CommandWorld,
  { options }: Asked,
  { file, config, password }: { file: string; config: Config; password: string | undefined },
): void {
  const ca = join(config.identity, identityFiles.site.cert)
  const { name, org } = ADMINISTRATOR
  if (options['json'] === true) {
    return print(JSON.stringify({ config: file, ca, user: name, org, password }))
  }
  print(`the cloud at ${config.base} is made; its configuration is ${file}`)
  if (config.original) print(`clients of the original API reach it at ${config.original.base}`)
  if (password !== undefined) {
    print(`administrator: ${name}@${org}, password (shown only now): ${password}`)
  }
  print(`clients need the certificate ${ca}`)
  print(
    `back up ${config.identity}: whoever has its keys has the cloud, and without them it is lost`,
  )
  print('next: skerry cloud serve, then skerry cloud invite for every host')
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
