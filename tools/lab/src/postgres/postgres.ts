// A real PostgreSQL 15 for a test or a lab, on loopback. It can be killed, restarted, copied and promoted.
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { postgresWords } from '@skerry/site'

import { inNetworkNamed } from '../network/netns.ts'
import { freePorts } from '../network/ports.ts'
import { asUser, lastWords, startDaemon } from '../servers/daemon.ts'
import { reasonWithoutRoot } from '../system/packages.ts'
import { childrenOf, isAlive, killAndWait, killWithChildren, nameOf } from '../system/processes.ts'
import { run } from '../system/run.ts'
import { forgetSharedMemory } from '../system/shared-memory.ts'
import { until } from '../system/wait.ts'
import { fillData } from './postgres-template.ts'

export const POSTGRES_PROGRAMS = '/usr/lib/postgresql/15/bin'
const USER = 'postgres'
const START_TIMEOUT_MS = 60_000

export interface PostgresOptions {
  /**
   * Whether a commit is on disk before it is acknowledged. Default: true. Tests without power cuts are faster without it: the page
   * cache still has the data when the server is killed.
   */
  readonly durable?: boolean
  /** Whether it keeps running when this program ends; otherwise it is shut down with it. */
  readonly outlives?: boolean
  /** The port at its first start. Default: a free one. */
  readonly port?: number
  /** The named network on whose loopback it listens. Default: the machine's own. */
  readonly netns?: string
  /** What its databases are prepared with. Default: nothing. */
  readonly prepared?: Prepared
}

/** Fills the database at this URL. */
export type Prepare = (url: string) => Promise<void>

/** Prepares databases, once for all servers of this machine. */
export interface Prepared {
  readonly by: Prepare
  /** The directories whose files define the result: if one changes, it is prepared again. */
  readonly from: readonly string[]
}

export interface Postgres extends AsyncDisposable {
  readonly dir: string
  readonly port: number
  /** The superuser's URL of the database `postgres`. */
  readonly url: string
  /** The current pid of its first process. */
  readonly pid: number
  readonly log: string
  /** What template1 was prepared with, if it was. */
  readonly preparedBy: Prepare | undefined
  urlOf(database: string, user?: string): string
  /** Runs SQL as the superuser and returns psql's output: rows in lines, columns separated by "|". */
  psql(sql: string, database?: string): Promise<string>
  /** Kills all its processes at once, as in a crash. */
  kill9(): Promise<void>
  /** Shuts it down: clients are disconnected, committed data is kept. */
  stop(): Promise<void>
  /** Starts it on the same port, shuts it down first if it runs; returns when it accepts connections. */
  restart(): Promise<void>
  /** A streaming standby in another directory, on its own port, that has received everything so far. */
  standby(dir: string): Promise<Postgres>
  /** Promotes a standby to a primary on its own timeline. The old primary is not notified. */
  promote(): Promise<void>
}

/** Starts a PostgreSQL that keeps its data below a directory; one that runs there already is reused. */
export async function startPostgres(dir: string, options: PostgresOptions = {}): Promise<Postgres> {
  const postgres = await prepare(dir, options)
  if (!existsSync(join(postgres.data, 'PG_VERSION'))) {
    const { data } = postgres
    const { prepared, netns } = options
    const init = ['-D', data, '-A', 'trust', '--no-sync', '--no-instructions']
    await fillData({
      data,
      command: [join(POSTGRES_PROGRAMS, 'initdb'), ...init, '--locale=C.UTF-8', '--encoding=UTF8'],
      asServer: (command) => asPostgres(command, netns),
      // In its network too, so that removing the lab finds it there.
      inside: (command) => inNetworkNamed(netns, command),
      preparation: prepared && {
        from: prepared.from,
        run: async () => {
          await postgres.start()
          await prepared.by(postgres.urlOf('template1'))
          await postgres.stop()
        },
      },
    })
  }
  await postgres.start()
  return postgres
}

async function prepare(directory: string, options: PostgresOptions): Promise<Server> {
  const missing = reasonWithoutRoot('cloud')
  if (missing !== undefined) throw new Error(missing)
  await mkdir(directory, { recursive: true })
  const dir = realpathSync(directory)
  if (process.getuid?.() === 0) {
    await makePassable(dir)
    const { uid, gid } = await ownerOf()
    await mkdir(join(dir, 'pg'), { recursive: true, mode: 0o700 })
    await chown(join(dir, 'pg'), uid, gid)
  }
  const saved = join(dir, 'pg-port')
  if (!existsSync(saved)) {
    await writeFile(saved, String(options.port ?? (await freePorts())), { mode: 0o600 })
  }
  return new Server(dir, Number(await readFile(saved, 'utf8')), options)
}

class Server implements Postgres {
  readonly dir: string
  readonly data: string
  readonly log: string
  readonly #options: PostgresOptions
  #port: number

  constructor(dir: string, port: number, options: PostgresOptions) {
    this.dir = dir
    this.data = join(dir, 'pg')
    this.log = join(dir, 'postgres.log')
    this.#port = port
    this.#options = options
  }

  get port(): number {
    return this.#port
  }

  get preparedBy(): Prepare | undefined {
    return this.#options.prepared?.by
  }

  get url(): string {
    return this.urlOf('postgres')
  }

  urlOf(database: string, user = USER): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`
  }

  get pid(): number {
    const pid = this.#running()
    if (pid === undefined) throw new Error(`no PostgreSQL runs in ${this.dir}: restart it first`)
    return pid
  }

  async psql(sql: string, database = 'postgres'): Promise<string> {
    const flags = ['--no-psqlrc', '--quiet', '--tuples-only', '--no-align', '-v', 'ON_ERROR_STOP=1']
    // Not the one in PATH, a Perl wrapper that looks up the version each time.
    const command = [join(POSTGRES_PROGRAMS, 'psql'), ...flags, this.urlOf(database)]
    const said = await run(inNetworkNamed(this.#options.netns, command), { input: sql })
    return said.trim()
  }

  async start(): Promise<void> {
    const first = !existsSync(join(this.dir, 'postgres.log'))
    const deadline = performance.now() + START_TIMEOUT_MS
    while (!(await this.#attemptStart())) {
      const said = await lastWords(this.log)
      // What a killed server left may take a moment to end. A port can be chosen again only before it is published.
      const passes = /shared memory block|still running|lock file .* already exists/.test(said)
      const taken = /Address already in use/.test(said)
      if (performance.now() > deadline || !(passes || taken)) {
        throw new Error(`PostgreSQL did not start in ${this.dir}: ${said}`)
      }
      if (taken && first) {
        this.#port = await freePorts()
        await writeFile(join(this.dir, 'pg-port'), String(this.#port))
      }
    }
  }

  async kill9(): Promise<void> {
    const pid = this.#running()
    if (pid !== undefined) await killWithChildren([pid])
  }

  async stop(): Promise<void> {
    const pid = this.#running()
    if (pid !== undefined) await killAndWait([pid], 'SIGINT')
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  async standby(dir: string): Promise<Postgres> {
    const { port: _, ...options } = this.#options
    const copy = await prepare(dir, options)
    const from = ['-h', '127.0.0.1', '-p', String(this.port), '-U', USER]
    const how = ['--checkpoint=fast', '--no-sync', '--write-recovery-conf', '-X', 'stream']
    await asPostgres(
      [join(POSTGRES_PROGRAMS, 'pg_basebackup'), ...from, ...how, '-D', copy.data],
      options.netns,
    )
    await copy.start()
    const now = await this.psql('select pg_current_wal_flush_lsn()')
    await until('the standby should have received everything', async () => {
      const behind = await copy.psql(`select pg_last_wal_replay_lsn() >= '${now}'::pg_lsn`)
      return behind === 't'
    })
    return copy
  }

  async promote(): Promise<void> {
    await this.psql('select pg_promote(true, 60)')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pid = this.#running()
    if (pid === undefined) return this.#forgetMemory()
    // Immediate shutdown: no checkpoint, but its shared memory is released.
    await killAndWait([pid, ...childrenOf(pid)], 'SIGQUIT')
    await this.#forgetMemory()
  }

  /** Returns whether it came up; false if it ended instead. */
  async #attemptStart(): Promise<boolean> {
    if (this.#running() !== undefined) return this.#ready()
    const more =
      this.#options.durable === false ? { fsync: 'off', full_page_writes: 'off' } : undefined
    const words = postgresWords({ data: this.data, port: this.port, ...(more && { more }) })
    const child = startDaemon({
      dir: this.dir,
      log: this.log,
      command: [join(POSTGRES_PROGRAMS, 'postgres'), ...words],
      user: USER,
      ...(this.#options.netns !== undefined && { netns: this.#options.netns }),
      outlives: this.#options.outlives ?? false,
      deathSignal: 'QUIT',
    })
    return until(
      `PostgreSQL in ${this.dir} should take connections; see ${this.log}`,
      () => (this.#ready(child.pid) ? 'up' : child.exitCode !== null ? 'ended' : undefined),
      START_TIMEOUT_MS,
    ).then((state) => state === 'up')
  }

  /** The server's own pid file: its pid in the first line, its state in the eighth. */
  #note(): readonly string[] {
    try {
      return readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n')
    } catch {
      return []
    }
  }

  #ready(pid = this.#running()): boolean {
    const [written, , , , , , , state = ''] = this.#note()
    return Number(written) === pid && ['ready', 'standby'].includes(state.trim())
  }

  #running(): number | undefined {
    const pid = Number(this.#note()[0] ?? 0)
    // The file survives a killed server, and its pid may belong to another process by now.
    return pid > 0 && isAlive(pid) && nameOf(pid) === 'postgres' && this.#isOurs(pid)
      ? pid
      : undefined
  }

  #isOurs(pid: number): boolean {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(this.data)
    } catch {
      return false
    }
  }

  /** A killed server leaves a few bytes of shared memory that only its next start would release. */
  async #forgetMemory(): Promise<void> {
    const [written] = this.#note()
    if (written !== undefined) await forgetSharedMemory([Number(written)])
  }
}

/** PostgreSQL refuses to run as root, and its own user must be able to traverse directories that a test created. */
async function makePassable(dir: string): Promise<void> {
  for (let at = dir; at !== dirname(at); at = dirname(at)) {
    const { mode } = await stat(at)
    if ((mode & 0o001) !== 0) continue
    if (at !== dir && !at.startsWith(`${realpathSync(tmpdir())}/`)) {
      throw new Error(
        `the user of PostgreSQL cannot enter ${at}: choose a directory below ${tmpdir()}, or run chmod o+x ${at}`,
      )
    }
    await chmod(at, mode | 0o011)
  }
}

async function ownerOf(): Promise<{ uid: number; gid: number }> {
  const [uid = 0, gid = 0] = (await run(['sh', '-c', `id -u ${USER}; id -g ${USER}`]))
    .trim()
    .split('\n')
    .map(Number)
  return { uid, gid }
}

async function asPostgres(command: readonly string[], netns?: string): Promise<void> {
  const user = asUser(USER)
  const confined = user.length === 0 ? command : ['setpriv', ...user, '--', ...command]
  await run(inNetworkNamed(netns, confined), { cwd: '/' })
}
