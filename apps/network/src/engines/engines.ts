// The two databases of OVN and northd, as children of this process, in a directory of one fencing token.
import { once } from 'node:events'
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'

import { Fault } from '@skerry/fault'
import { namedUuid, Ovsdb, set } from '@skerry/ovsdb'
import {
  isFreePort,
  northboundWords,
  northdWords,
  ovnFiles,
  ovnHostsRemote,
  ovnPrograms,
  ovnSchemas,
  southboundWords,
  type OvnPlace,
} from '@skerry/site'

import { runTool, startProgram, type ChildProgram } from './child.ts'

export interface EngineContext {
  readonly place: OvnPlace
  readonly log: (message: string, cause?: unknown) => void
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** The listener for hosts. */
export interface HostListener {
  readonly address: string
  readonly port: number
}

export interface Engines extends AsyncDisposable {
  readonly northbound: Ovsdb
  readonly southbound: Ovsdb
  /** Resolves when a program has ended or a connection is lost. */
  readonly failed: Promise<Fault>
  /** Begins to compile the northbound database into the southbound one. */
  startNorthd(): Promise<void>
  /** Opens the southbound database to hosts. */
  open(listener: HostListener): Promise<void>
  /** Ends all connections of hosts. Those with a valid certificate connect again at once. */
  dropHosts(): Promise<void>
  /** Rewrites the files of both databases without their history, and returns memory. They answer no one meanwhile. */
  compact(): Promise<void>
}

const OWNER_ONLY = 0o700
const SOCKET_MODE = 0o600
/** A database of thousands of networks is read for a while before it listens. That its program has ended is noticed at once. */
const START_MS = 120_000
const LOOK_MS = 50
/**
 * northd writes the first compilation in one transaction; with thousands of networks it silences the southbound database for more than a
 * minute. The end of a program closes its socket, so only one that hangs is noticed this late.
 */
const OWN_PROBE_MS = 300_000
/** A host that is busy with a large change answers late. */
const HOST_PROBE_MS = 60_000

/**
 * Starts the databases. Those of an earlier start in the same directory go on with what they hold; they have no port yet. If they are
 * damaged, or of another version of OVN, empty ones are started: the caller fills them.
 */
export async function startEngines(context: EngineContext): Promise<Engines> {
  const { place, log } = context
  if (!(await isThere(place.directory))) return startIn(context)
  const why = await whyNotUsable(place.directory)
  if (why === undefined) {
    try {
      return await startIn(context)
    } catch (error) {
      log('the databases do not start and are made again', error)
    }
  } else log(`the databases are made again: ${why}`)
  await rm(place.directory, { recursive: true, force: true })
  return startIn(context)
}

/** Undefined if both databases are usable or absent. */
async function whyNotUsable(directory: string): Promise<string | undefined> {
  const at = ovnFiles(directory)
  for (const which of ['northbound', 'southbound'] as const) {
    if (!(await isThere(at[which]))) continue
    const words = ['needs-conversion', at[which], ovnSchemas[which]]
    const said = await runTool([ovnPrograms.databaseTool, ...words]).catch(() => undefined)
    if (said === undefined) return `the ${which} one is damaged`
    if (said.trim() !== 'no') return `the ${which} one is of another version of OVN`
  }
  return undefined
}

async function startIn(context: EngineContext): Promise<Engines> {
  const { place, log } = context
  const at = ovnFiles(place.directory)
  await mkdir(place.directory, { recursive: true, mode: OWNER_ONLY })
  await chmod(place.directory, OWNER_ONLY)
  await using started = new AsyncDisposableStack()
  const failed = Promise.withResolvers<Fault>()
  const start = async (name: string, program: string, words: readonly string[]) => {
    const child = await startProgram(name, [program, ...words], (line) => log(`${name}: ${line}`))
    started.defer(() => child.stop())
    void child.ended.then(failed.resolve)
    return child
  }
  const open = async (which: 'northbound' | 'southbound', words: readonly string[]) => {
    const file = at[which]
    await createDatabase(file, ovnSchemas[which])
    // A socket that was left by a killed process would be taken for the new one.
    await rm(at[`${which}Socket`], { force: true })
    const child = await start(`${which} database`, ovnPrograms.database, words)
    const connection = started.use(await connectTo(context, at[`${which}Socket`], child))
    void connection.closed.then((cause) => {
      failed.resolve(new Fault('unavailable', `the ${which} database was lost`, { cause }))
    })
    return connection
  }
  const northbound = await open('northbound', northboundWords(place))
  const southbound = await open('southbound', southboundWords(place))
  const all = started.move()
  return {
    northbound,
    southbound,
    failed: failed.promise,
    async startNorthd() {
      const child = await startProgram(
        'northd',
        [ovnPrograms.northd, ...northdWords(place)],
        (line) => log(`northd: ${line}`),
      )
      all.defer(() => child.stop())
      void child.ended.then(failed.resolve)
    },
    open: (listener) =>
      openToHosts({ ...context, southbound, control: at.southboundControl }, listener),
    async dropHosts() {
      // Added first: an attempt that failed in between left nothing to remove.
      for (const command of ['add-remote', 'remove-remote', 'add-remote'] as const) {
        await setRemote(at.southboundControl, command)
      }
    },
    async compact() {
      for (const control of [at.northboundControl, at.southboundControl]) {
        await askDatabase(control, 'memory-trim-on-compaction', 'on')
        await askDatabase(control, 'compact')
      }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Complete or absent, so that a start that was interrupted can be repeated. */
async function createDatabase(file: string, schema: string): Promise<void> {
  if (await isThere(file)) return
  const unfinished = `${file}.unfinished`
  await rm(unfinished, { force: true })
  await rm(`${unfinished}.~lock~`, { force: true })
  await runTool([ovnPrograms.databaseTool, 'create', unfinished, schema])
  await rename(unfinished, file)
}

async function connectTo(
  { pause }: EngineContext,
  path: string,
  child: ChildProgram,
): Promise<Ovsdb> {
  let ended: Fault | undefined
  void child.ended.then((fault) => (ended = fault))
  const deadline = performance.now() + START_MS
  for (;;) {
    try {
      const connection = await Ovsdb.open({ path }, { probeMs: OWN_PROBE_MS })
      await chmod(path, SOCKET_MODE)
      return connection
    } catch (cause) {
      if (ended) throw ended
      if (performance.now() > deadline) {
        throw new Fault('unavailable', `the ${child.name} does not answer`, { cause })
      }
      await pause(LOOK_MS)
    }
  }
}

interface Opening extends EngineContext {
  readonly southbound: Ovsdb
  readonly control: string
}

async function openToHosts(
  { southbound, control, pause }: Opening,
  { address, port }: HostListener,
): Promise<void> {
  if (!(await isFreePort(port))) {
    throw new Fault('unavailable', `port ${port} is in use, so hosts cannot connect`, {
      hint: 'stop what uses it, such as the service ovn-central, or set another port in "listen"',
    })
  }
  const target = `pssl:${port}:${address.includes(':') ? `[${address}]` : address}`
  // The role: a host changes its own rows and no others.
  const connection = { target, role: 'ovn-controller', inactivity_probe: HOST_PROBE_MS }
  await southbound.transact('OVN_Southbound', [
    { op: 'delete', table: 'Connection', where: [] },
    { op: 'insert', table: 'Connection', 'uuid-name': 'hosts', row: connection },
    {
      op: 'update',
      table: 'SB_Global',
      where: [],
      row: { connections: set([namedUuid('hosts')]) },
    },
  ])
  await setRemote(control, 'add-remote')
  const deadline = performance.now() + START_MS
  while (!(await accepts(address, port))) {
    if (performance.now() > deadline) {
      throw new Fault('unavailable', `the southbound database does not listen on ${target}`)
    }
    await pause(LOOK_MS)
  }
}

const setRemote = (control: string, command: 'add-remote' | 'remove-remote'): Promise<string> =>
  askDatabase(control, command, ovnHostsRemote)

const askDatabase = (control: string, command: string, ...words: readonly string[]) =>
  runTool([ovnPrograms.control, '-t', control, `ovsdb-server/${command}`, ...words])

async function accepts(address: string, port: number): Promise<boolean> {
  const any: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }
  const socket = connect({ host: any[address] ?? address, port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
