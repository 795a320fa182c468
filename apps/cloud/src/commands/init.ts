import { X509Certificate } from 'node:crypto'
import { access, mkdir } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname, join, resolve } from 'node:path'

import { serverAdmin, type Args } from '@skerry/command-line'
import { writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { listenAddress } from '@skerry/service'
import type { Kysely } from 'kysely'

import { hashPassword } from '../auth/password.ts'
import { passwordIn } from '../command-line/account-named.ts'
import { maybe, needed, runs, type CommandContext } from '../command-line/command.ts'
import { databaseIn } from '../command-line/database-in.ts'
import { prepareTables } from '../command-line/prepare-tables.ts'
import { requireSeparateConsoleHost } from '../command-line/separate-console-host.ts'
import { configFile, withDatabase } from '../command-line/with-store.ts'
import { basesOf, checkConfig, readConfig, type CloudConfig } from '../config.ts'
import type { CloudTables } from '../database/tables.ts'
import {
  ensureIssuers,
  identityFiles,
  makeCell,
  makeServer,
  newSealKey,
  readIdentity,
} from '../identity/issuers.ts'
import { readCloud } from '../identity/machines.ts'
import { namesOf } from '../identity/renew-cell.ts'
import { addAdministrator, hasAdministrator } from '../tenants/accounts.ts'

const HTTPS_PORT = 443
type InitArgs = Args<typeof serverAdmin.init.options>
const ADMINISTRATOR = { org: 'System', name: 'administrator' } as const

export const init = runs(serverAdmin.init, async (context, requested) => {
  const file = configFile(requested)
  const known = await isThere(file)
  const before = known ? await readConfig(file) : await newConfig(file, requested)
  const shown = withWorkflow(
    withConsole(withOriginal(before, requested), maybe(requested, 'console')),
    maybe(requested, 'workflow'),
  )
  const config = withEgress(shown, maybe(requested, 'egress'))
  await prepareTables(config)
  const password = await withDatabase(config, async (db) => {
    await makeIdentity(context, config, db)
    if (!known || config !== before) {
      await mkdir(dirname(file), { recursive: true })
      await writeDurably(file, `${JSON.stringify(config, null, 2)}\n`)
    }
    return makeAdministrator(context, requested, db)
  })
  report(context, requested, { file, config, password })
})

async function newConfig(file: string, requested: InitArgs): Promise<CloudConfig> {
  const value: CloudConfig = {
    base: needed(requested, 'base'),
    cell: maybe(requested, 'cell') ?? 'cell-1',
    listen: listenAddress('--listen', maybe(requested, 'listen') ?? '[::]:443'),
    machines: listenAddress('--machines', maybe(requested, 'machines') ?? '[::]:8444'),
    database: await databaseIn(requested),
    temporal: {
      address: maybe(requested, 'temporal') ?? '127.0.0.1:7233',
      namespace: maybe(requested, 'namespace') ?? 'skerry',
      ...temporalTls(requested),
    },
    identity: maybe(requested, 'identity') ?? join(dirname(file), 'identity'),
    images: maybe(requested, 'images') ?? '/var/lib/skerry/cloud-images',
  }
  return checkConfig(value, 'the configuration')
}

/** Default: the client certificate is this cell's own, and the server's certificate comes from `skerry admin temporal-server create`. */
function temporalTls(requested: InitArgs): Pick<CloudConfig['temporal'], 'tls'> {
  const files = maybe(requested, 'temporal-files')
  if (requested.options['temporal-plain'] === true) {
    if (files === undefined) return { tls: false }
    throw new Fault('invalid', '--temporal-files and --temporal-plain are mutually exclusive')
  }
  if (files === undefined) return {}
  const [ca, certificate, key, ...more] = files.split(',').map((file) => resolve(file))
  if (ca === undefined || certificate === undefined || key === undefined || more.length > 0) {
    throw new Fault('invalid', `--temporal-files must be CA,CERTIFICATE,KEY, not ${files}`, {
      hint: 'three PEM files: the CA of the Temporal server, and the client certificate and key of this machine',
    })
  }
  return { tls: { ca, certificate, key } }
}

/** The same API with the original names, for existing clients. The address is kept between runs; giving it again changes it. */
function withOriginal(config: CloudConfig, requested: InitArgs): CloudConfig {
  const listen = maybe(requested, 'original-listen')
  const base = maybe(requested, 'original') ?? config.original?.base
  if (base === undefined) {
    if (listen === undefined) return config
    throw new Fault('invalid', '--original-listen needs --original https://NAME:PORT')
  }
  if (maybe(requested, 'original') === undefined && listen === undefined) return config
  const port = URL.parse(base)?.port || HTTPS_PORT
  const kept = listen === undefined ? config.original?.listen : undefined
  const original = {
    base,
    listen: kept ?? listenAddress('--original-listen', listen ?? `[::]:${port}`),
  }
  return checkConfig({ ...config, original }, 'the configuration')
}

/** The console address is kept between runs; giving it again changes it. */
function withConsole(config: CloudConfig, console: string | undefined): CloudConfig {
  const made =
    console === undefined ? config : checkConfig({ ...config, console }, 'the configuration')
  for (const base of made.console === undefined ? [] : basesOf(made)) {
    requireSeparateConsoleHost('--console', made.console?.replace(/:[0-9]+$/, '') ?? '', base)
  }
  return made
}

/** The listeners of workflow servers are kept between runs; giving them again changes them. */
const withWorkflow = (config: CloudConfig, listeners: string | undefined): CloudConfig =>
  listeners === undefined
    ? config
    : {
        ...config,
        workflow: listeners.split(',').map((each) => listenAddress('--workflow', each)),
      }

/** The socket of the egress is kept between runs; giving it again changes it. */
const withEgress = (config: CloudConfig, socket: string | undefined): CloudConfig =>
  socket === undefined ? config : { ...config, egress: resolve(socket) }

async function makeIdentity(
  { issuing, secret }: CommandContext,
  config: CloudConfig,
  db: Kysely<CloudTables>,
): Promise<void> {
  const { identity: directory, images, cell } = config
  const { id: cloud, epoch } = await readCloud(db)
  const hasIssuers = await isThere(join(directory, identityFiles.control.cert))
  if (!hasIssuers && (await hasAdministrator(db))) {
    throw new Fault(
      'conflict',
      'this cloud already exists, but its issuer keys are not on this machine',
      {
        hint: 'run skerry admin cell create on the machine that has them, or restore them from a backup',
      },
    )
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
      `${directory} belongs to cloud ${name.cloud}, but the database belongs to cloud ${cloud}`,
    )
  }
  if (!isFor(server.cert, namesOf(config))) await show()
  await mkdir(images, { recursive: true, mode: 0o700 })
}

/** Whether the server certificate covers all of these names. */
function isFor(cert: string, names: readonly string[]): boolean {
  const shown = new X509Certificate(cert)
  return names.every(
    (name) => (isIP(name) === 0 ? shown.checkHost(name) : shown.checkIP(name)) !== undefined,
  )
}

/** Returns the generated password, or undefined if an administrator exists or the password was given. */
async function makeAdministrator(
  context: CommandContext,
  { options }: InitArgs,
  db: Kysely<CloudTables>,
): Promise<string | undefined> {
  if (await hasAdministrator(db)) return undefined
  const isGiven = options['password-stdin'] === true
  const password = isGiven
    ? await passwordIn(await context.readInput(), ADMINISTRATOR.name)
    : context.secret()
  const hash = await hashPassword(password, context.salt())
  await addAdministrator(db, { ...ADMINISTRATOR, password: hash })
  return isGiven ? undefined : password
}

function report(
  { print }: CommandContext,
  { json }: InitArgs,
  { file, config, password }: { file: string; config: CloudConfig; password: string | undefined },
): void {
  const ca = join(config.identity, identityFiles.site.cert)
  const { name, org } = ADMINISTRATOR
  if (json) {
    return print(JSON.stringify({ config: file, ca, user: name, org, password }))
  }
  print(`created the cloud at ${config.base}; configuration: ${file}`)
  if (config.original) print(`address for clients of the original API: ${config.original.base}`)
  if (password !== undefined) {
    print(`administrator: ${name}@${org}, password (shown only now): ${password}`)
  }
  print(`clients need the CA certificate ${ca}`)
  print(
    `back up ${config.identity}: its keys control the cloud, and without them the cloud is lost`,
  )
  print('next: skerry cloud-server, then skerry admin host invite for every host')
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
