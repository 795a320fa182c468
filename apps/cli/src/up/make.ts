// Creates the parts of a site. Each can be repeated after an interruption at any point.
import { chmod, chown, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import {
  temporalBuild,
  temporalDatabases,
  temporalDynamicSettings,
  temporalSettings,
  whyNotGo,
} from '@skerry/site'

import type { CliContext } from '../command.ts'
import { findProgram } from '../machine/checks.ts'
import { askProgram } from '../machine/child.ts'
import { imageIn } from '../templates/template-image.ts'
import { Failure } from '../terminal/failure.ts'
import { administering, must, type Administer } from './servers/administer.ts'
import { addUsers } from './servers/users.ts'
import type { Making } from './site/decide.ts'
import { isThere, readKept, versionOf, type Passwords } from './site/keep.ts'
import { listenFor } from './site/site-plan.ts'
import { databases, files, names, urlsOfDatabases, vmdProgram, type Site } from './site/site.ts'

/** Default location of the Go distribution; not in the PATH of sudo. */
const MORE_GO = '/usr/local/go/bin'
const USER = 'postgres'
const PACKAGED_VMD = 'skerry-vmd.service'
/** Cannot be changed after the first start: enough for a small site, and light on one machine. */
const SHARDS = 32
const MEMORY_MIB = '1024'

export interface Workbench {
  readonly context: CliContext
  readonly site: Site
  readonly passwords: Passwords
  /** The image of the template, if none is to be built. */
  readonly image: string | undefined
  readonly node: string
  readonly report: (doing: string) => void
}
type Maker = (making: Workbench) => Promise<void>

const psql = async ({ site, passwords }: Workbench, sql: string): Promise<string> => {
  const { port, bin } = site.settled.postgres ?? { port: 0, bin: '' }
  const flags = ['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '-v', 'ON_ERROR_STOP=1']
  const way = ['-h', '127.0.0.1', '-p', String(port), '-U', USER, '-d', 'postgres']
  const env = { PGPASSWORD: passwords.postgres, LC_ALL: 'C.UTF-8' }
  const command = [join(bin, 'psql'), ...flags, ...way]
  return (await must(askProgram(command, { env, input: sql }), 'psql')).trim()
}

const admin = ({ site, node }: Workbench): Administer => administering(node, files(site.dir).cloud)

const makeUsers: Maker = async ({ site }) => addUsers(site.dir)

/** Builds in a temporary directory first, so that the installed programs are always complete. */
const programs: Maker = async ({ site, context, report }) => {
  const { server } = site.settled.temporal.programs ?? { server: '' }
  const go = await findProgram('go', `${context.path}:${MORE_GO}`)
  const said = go === undefined ? undefined : await askProgram([go, 'env', 'GOVERSION'])
  const why = whyNotGo(said?.code === 0 ? said.out : undefined)
  if (why !== undefined || go === undefined) {
    throw new Failure('refused', why ?? '', {
      hint: 'then run skerry up again; or use an existing Temporal server: skerry up --temporal ADDRESS:PORT',
    })
  }
  const home = join(server, '..')
  await mkdir(home, { recursive: true })
  await chmod(home, 0o755)
  const unfinished = await mkdtemp(`${home}.unfinished-`)
  try {
    const env = Object.entries({ ...temporalBuild.env, GOBIN: unfinished })
    const settings = env.map(([name, value]) => `${name}=${value}`)
    const command = ['env', ...settings, go, ...temporalBuild.words]
    await must(askProgram(command, { hear: (line) => report(`building Temporal: ${line}`) }), 'go')
    for (const each of temporalBuild.programs) {
      // The programs are not secret, and another user may run them.
      await chmod(join(unfinished, each), 0o755)
      await rename(join(unfinished, each), join(home, each))
    }
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

const cluster: Maker = async ({ site: { dir, settled }, passwords }) => {
  const { postgres: home, data } = files(dir)
  await mkdir(home, { recursive: true })
  await chmod(home, 0o711)
  const [uid, gid] = await idsOf(USER)
  await chown(home, uid, gid)
  for (const name of await readdir(home)) {
    if (name.startsWith('new-')) await rm(join(home, name), { recursive: true, force: true })
  }
  const scratch = await mkdtemp(join(home, 'new-'))
  const secret = join(scratch, 'password')
  await writeFile(secret, passwords.postgres, { mode: 0o600 })
  for (const each of [scratch, secret]) await chown(each, uid, gid)
  const made = join(scratch, 'data')
  const initdb = join(settled.postgres?.bin ?? '', 'initdb')
  const how = ['-D', made, '-U', USER, '-A', 'scram-sha-256', `--pwfile=${secret}`]
  const words = [...how, '--locale=C.UTF-8', '--encoding=UTF8', '--no-instructions']
  const as = ['setpriv', '--reuid', USER, '--regid', USER, '--clear-groups', '--']
  // A change of user clears the parent-death signal, so it is set after that.
  const dies = ['setpriv', '--pdeathsig', 'KILL', '--']
  await must(askProgram([...as, ...dies, initdb, ...words]), 'initdb')
  await rename(made, data)
  await rm(scratch, { recursive: true, force: true })
}

async function idsOf(user: string): Promise<readonly [number, number]> {
  const ask = async (flag: string) => Number(await must(askProgram(['id', flag, user]), 'id'))
  return [await ask('-u'), await ask('-g')]
}

const makeDatabases: Maker = async (making) => {
  if (making.site.settled.databases) return
  for (const name of Object.values(databases)) {
    const there = await psql(making, `select 1 from pg_database where datname = '${name}'`)
    if (there === '') await psql(making, `create database ${name}`)
  }
}

/** Incomplete databases hold no data yet and are created again; those of an older version are upgraded. */
const tables: Maker = async (making) => {
  const { site, passwords } = making
  const { programs: built } = site.settled.temporal
  const postgres = { port: site.settled.postgres?.port ?? 0, password: passwords.postgres }
  const way = ['--ep', '127.0.0.1', '-p', String(postgres.port), '-u', USER]
  const isOlder = (await versionOf(site.dir, 'tables')) !== ''
  const env = { SQL_PASSWORD: passwords.postgres, LC_ALL: 'C.UTF-8' }
  for (const [schema, name] of Object.entries(temporalDatabases)) {
    const tool = [built?.sql ?? '', ...way, '--pl', 'postgres12', '--db', name]
    const sql = async (...words: string[]) =>
      must(askProgram([...tool, ...words], { env }), 'temporal-sql-tool')
    if (!isOlder) {
      await psql(making, `drop database if exists ${name} with (force)`)
      await sql('create')
      await sql('setup-schema', '-v', '0.0')
    }
    await sql('update-schema', '--schema-name', `postgresql/v12/${schema}`)
  }
  await keepSettings(making)
}

async function keepSettings({ site, passwords }: Workbench): Promise<void> {
  const at = files(site.dir)
  await mkdir(at.temporal, { recursive: true, mode: 0o700 })
  const port = Number(site.settled.temporal.address.split(':').at(-1))
  const postgres = { port: site.settled.postgres?.port ?? 0, password: passwords.postgres }
  const place = { port, postgres, dynamic: at.temporalDynamic, shards: SHARDS }
  await writeDurably(at.temporalDynamic, temporalDynamicSettings(true))
  const certificates = at.temporalCertificates
  await writeDurably(at.temporalSettings, temporalSettings({ ...place, certificates }))
}

/** Also writes the settings: those of an older version contain no certificates. */
const certificates: Maker = async (making) => {
  await keepSettings(making)
  await admin(making)([
    'temporal-server',
    'create',
    '--out',
    files(making.site.dir).temporalCertificates,
  ])
}

/** Passes the URL in a file, because all users of the machine can see command lines. */
async function databaseFile(
  { site, passwords }: Workbench,
  which: 'cloud' | 'workflow',
): Promise<string> {
  const file = join(site.dir, `database-${which}`)
  await writeDurably(file, urlsOfDatabases(site.settled, passwords.postgres)[which])
  return file
}

const cloud: Maker = async (making) => {
  const { site, passwords } = making
  const { base, machines, workflowMachines, console: screens, temporal } = site.settled
  const at = files(site.dir)
  const places = ['--base', base, '--listen', listenFor(base), '--machines', machines]
  const { temporalFiles, temporalPlain } = site.settled.requested
  const engines = [
    '--temporal',
    temporal.address,
    '--images',
    at.images,
    ...(temporalFiles === undefined ? [] : ['--temporal-files', temporalFiles]),
    ...(temporalPlain ? ['--temporal-plain'] : []),
  ]
  const database = await databaseFile(making, 'cloud')
  const shown = [
    '--console',
    new URL(screens).host,
    ...(workflowMachines === undefined ? [] : ['--workflow', workflowMachines]),
    '--egress',
    at.egressSocket,
    '--password-stdin',
  ]
  const words = ['init', ...places, ...engines, '--database-file', database, ...shown]
  await admin(making)(words, passwords.administrator)
}

const makeConsole: Maker = async (making) => {
  const { console: page } = making.site.settled
  const out = ['console-1', '--out', files(making.site.dir).console]
  await admin(making)([
    'console-server',
    'create',
    ...out,
    '--page',
    page,
    '--listen',
    listenFor(page),
  ])
}

const workflow: Maker = async (making) => {
  const { site } = making
  const { workflow: url, workflowMachines: machines } = site.settled
  const database = await databaseFile(making, 'workflow')
  const out = ['workflow-1', '--out', files(site.dir).workflow]
  const at = [
    '--url',
    url,
    '--listen',
    listenFor(url),
    ...(machines === undefined ? [] : ['--machines', machines]),
    '--organisation',
    names.org,
  ]
  await admin(making)(['workflow-server', 'create', ...out, ...at, '--database-file', database])
}

const network: Maker = async (making) => {
  const { network: listen = '' } = making.site.settled
  const { network: out, networkData: data } = files(making.site.dir)
  const host = listen.slice(0, listen.lastIndexOf(':'))
  const places = ['--out', out, '--host', host, '--listen', listen, '--data', data]
  await admin(making)(['network-server', 'create', 'network-1', ...places])
  // Its user gets this directory when the server starts.
  await mkdir(data, { recursive: true, mode: 0o700 })
}

interface Invitation {
  readonly cloud: string
  readonly token: string
  readonly fingerprint: string
}

/** Reuses a stored invitation, by which the cloud recognises the same machine. An expired one is replaced. */
const membership: Maker = async (making) => {
  const { settled, dir } = making.site
  const { invitation: file } = files(dir)
  const joinBy = async ({ cloud: api, token, fingerprint }: Invitation) => {
    const words = ['--cloud', api, '--token', token, '--fingerprint', fingerprint]
    const command = [making.node, vmdProgram, 'join', ...words, '--host-api', settled.hostApi]
    return askProgram(command)
  }
  const before = await readKept<Invitation>(file)
  if (!before || (await joinBy(before)).code !== 0) {
    const fresh = (await admin(making)(['host', 'invite'])) as Invitation
    await writeDurably(file, JSON.stringify(fresh))
    await must(joinBy(fresh), 'skerry vmd join')
  }
  await restartPackagedVmd(making)
}

/** The Debian package starts vmd when it is installed, and vmd opens the host API only when it starts. Guests keep running. */
async function restartPackagedVmd({ report }: Workbench): Promise<void> {
  if (!(await isThere('/run/systemd/system'))) return
  const isActive = await askProgram(['systemctl', 'is-active', '--quiet', PACKAGED_VMD])
  if (isActive.code !== 0) return
  report(`restarting ${PACKAGED_VMD}`)
  await must(askProgram(['systemctl', 'restart', PACKAGED_VMD]), 'systemctl')
}

const organisation: Maker = async (making) => {
  const administer = admin(making)
  const { org, user } = names
  const orgs = (await administer(['org', 'list'])) as readonly { name: string }[]
  if (!orgs.some(({ name }) => name === org)) await administer(['org', 'create', org])
  const users = (await administer(['user', 'list', '--org', org])) as readonly { user: string }[]
  if (users.some((each) => each.user === user)) return
  const create = ['user', 'create', `${user}@${org}`, '--role', 'organisation administrator']
  await administer(create, making.passwords.owner)
}

const image: Maker = async ({ site, context }) => {
  await using _ = await imageIn(context, files(site.dir).image)
}

const template: Maker = async (making) => {
  const { org, template: name } = names
  const administer = admin(making)
  const there = (await administer(['template', 'list', '--org', org])) as readonly {
    name: string
  }[]
  if (there.some((each) => each.name === name)) return
  const file = making.image ?? files(making.site.dir).image
  const sizes = ['--cpus', '1', '--memory', MEMORY_MIB]
  await administer(['template', 'import', file, '--org', org, '--name', name, ...sizes])
}

export const makers: Readonly<Record<Making, Maker>> = {
  users: makeUsers,
  programs,
  cluster,
  databases: makeDatabases,
  tables,
  cloud,
  certificates,
  console: makeConsole,
  workflow,
  network,
  membership,
  organisation,
  image,
  template,
}
