// Makes what a site is made of. Each may be done again after it was cut short anywhere.
import { chown, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import {
  temporalBuild,
  temporalDatabases,
  temporalDynamicSettings,
  temporalSettings,
  whyNotGo,
} from '@skerry/site'

import { findProgram } from '../checks.ts'
import { askProgram } from '../child.ts'
import type { World } from '../command.ts'
import { Failure } from '../failure.ts'
import { keepFile } from '../keep-file.ts'
import { imageIn } from '../template-image.ts'
import { administering, must, type Administer } from './administer.ts'
import type { Making } from './decide.ts'
import { readKept, versionOf, type Passwords } from './keep.ts'
import { listenFor } from './settled.ts'
import { databases, files, names, urlsOfDatabases, vmdProgram, type Site } from './site.ts'

/** Where Go's own archive is unpacked to; sudo does not look there. */
const MORE_GO = '/usr/local/go/bin'
const USER = 'postgres'
/** Fixed for ever at the first start: enough for the machines of a small site, and light on one. */
const SHARDS = 32
const MEMORY_MIB = '1024'

export interface Workbench {
  readonly world: World
  readonly site: Site
  readonly passwords: Passwords
  /** What the template is made of, where no image is to be built. */
  readonly image: string | undefined
  readonly node: string
  readonly tell: (doing: string) => void
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

/** As a directory of its own first: what is in the place of the programs is whole. */
const programs: Maker = async ({ site, world, tell }) => {
  const { server } = site.settled.temporal.programs ?? { server: '' }
  const go = await findProgram('go', `${world.path}:${MORE_GO}`)
  const said = go === undefined ? undefined : await askProgram([go, 'env', 'GOVERSION'])
  const why = whyNotGo(said?.code === 0 ? said.out : undefined)
  if (why !== undefined || go === undefined) {
    throw new Failure('refused', why ?? '', {
      hint: 'then skerry up again; or use a Temporal that runs already: skerry up --temporal ADDRESS:PORT',
    })
  }
  const home = join(server, '..')
  await mkdir(home, { recursive: true })
  const unfinished = await mkdtemp(`${home}.unfinished-`)
  try {
    const command = ['env', `GOBIN=${unfinished}`, go, ...temporalBuild.words]
    await must(askProgram(command, { hear: (line) => tell(`building Temporal: ${line}`) }), 'go')
    for (const each of temporalBuild.programs) {
      await rename(join(unfinished, each), join(home, each))
    }
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

const cluster: Maker = async ({ site: { dir, settled }, passwords }) => {
  const { postgres: home, data } = files(dir)
  await mkdir(home, { recursive: true, mode: 0o711 })
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
  // Becoming another user takes the promise away that it dies with us, so it is made there.
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

/** Half made ones hold nothing yet, and are made anew; those of an older version are brought to this one. */
const tables: Maker = async (making) => {
  const { site, passwords } = making
  const at = files(site.dir)
  const { address, programs: built } = site.settled.temporal
  const postgres = { port: site.settled.postgres?.port ?? 0, password: passwords.postgres }
  const way = ['--ep', '127.0.0.1', '-p', String(postgres.port), '-u', USER]
  const isOlder = (await versionOf(site.dir, 'tables')) !== ''
  const env = { SQL_PASSWORD: passwords.postgres, LC_ALL: 'C.UTF-8' }
  for (const [schema, name] of Object.entries(temporalDatabases)) {
    const tool = [built?.sql ?? '', ...way, '--pl', 'postgres12', '--db', name]
    const sql = async (...words: string[]) =>
      must(askProgram([...tool, ...words], { env }), 'the tool of Temporal’s tables')
    if (!isOlder) {
      await psql(making, `drop database if exists ${name} with (force)`)
      await sql('create')
      await sql('setup-schema', '-v', '0.0')
    }
    await sql('update-schema', '--schema-name', `postgresql/v12/${schema}`)
  }
  await mkdir(at.temporal, { recursive: true, mode: 0o700 })
  const port = Number(address.split(':').at(-1))
  await keepFile(at.temporalDynamic, temporalDynamicSettings)
  await keepFile(
    at.temporalSettings,
    temporalSettings({ port, postgres, dynamic: at.temporalDynamic, shards: SHARDS }),
  )
}

/** Everybody on the machine sees the words of a command. */
async function databaseFile(
  { site, passwords }: Workbench,
  which: 'cloud' | 'workflow',
): Promise<string> {
  const file = join(site.dir, `database-${which}`)
  await keepFile(file, urlsOfDatabases(site.settled, passwords.postgres)[which])
  return file
}

const cloud: Maker = async (making) => {
  const { site, passwords } = making
  const { base, machines, console: screens, temporal } = site.settled
  const at = files(site.dir)
  const places = ['--base', base, '--listen', listenFor(base), '--machines', machines]
  const engines = ['--temporal', temporal.address, '--images', at.images]
  const database = await databaseFile(making, 'cloud')
  const shown = ['--console', new URL(screens).host, '--password-stdin']
  const words = ['init', ...places, ...engines, '--database-file', database, ...shown]
  await admin(making)(words, passwords.administrator)
}

const makeConsole: Maker = async (making) => {
  const { console: page } = making.site.settled
  const out = ['--name', 'console-1', '--out', files(making.site.dir).console]
  await admin(making)(['console', ...out, '--page', page, '--listen', listenFor(page)])
}

const workflow: Maker = async (making) => {
  const { site } = making
  const { workflow: url } = site.settled
  const database = await databaseFile(making, 'workflow')
  const out = ['--name', 'workflow-1', '--out', files(site.dir).workflow]
  const at = ['--url', url, '--listen', listenFor(url)]
  await admin(making)(['workflow', ...out, ...at, '--database-file', database])
}

interface Invitation {
  readonly cloud: string
  readonly token: string
  readonly fingerprint: string
}

/** With the same invitation again, the cloud knows that it is the same machine. One that is too old is replaced. */
const membership: Maker = async (making) => {
  const { settled, dir } = making.site
  const { invitation: file } = files(dir)
  const joinBy = async ({ cloud: door, token, fingerprint }: Invitation) => {
    const words = ['--cloud', door, '--token', token, '--fingerprint', fingerprint]
    const command = [making.node, vmdProgram, 'join', ...words, '--host-api', settled.hostApi]
    return askProgram(command)
  }
  const before = await readKept<Invitation>(file)
  if (before && (await joinBy(before)).code === 0) return
  const fresh = (await admin(making)(['invite'])) as Invitation
  await keepFile(file, JSON.stringify(fresh))
  await must(joinBy(fresh), 'skerry vmd join')
}

const organisation: Maker = async (making) => {
  const administer = admin(making)
  const { org, user } = names
  const orgs = (await administer(['org', 'list'])) as readonly { name: string }[]
  if (!orgs.some(({ name }) => name === org)) await administer(['org', 'add', org])
  const users = (await administer(['user', 'list', '--org', org])) as readonly { user: string }[]
  if (users.some((each) => each.user === user)) return
  const add = ['user', 'add', `${user}@${org}`, '--role', 'organisation administrator']
  await administer(add, making.passwords.owner)
}

const image: Maker = async ({ site, world }) => {
  await using _ = await imageIn(world, files(site.dir).image)
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
  await administer(['template', 'add', file, '--org', org, '--name', name, ...sizes])
}

export const makers: Readonly<Record<Making, Maker>> = {
  ...{ programs, cluster, databases: makeDatabases, tables, cloud, console: makeConsole },
  ...{ workflow, membership, organisation, image, template },
}
