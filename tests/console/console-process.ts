// A console in its own process, optionally with its own clock.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { join } from 'node:path'

import { until } from '@skerry/lab'

import type { ConsoleConfig } from '../../apps/console/src/config.ts'
import type { Authority } from './authority.ts'

const PROGRAM = join(import.meta.dirname, '../../apps/console/src/main.ts')
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'
const ADDRESS = '127.0.0.2'

export interface ConsoleProcess extends AsyncDisposable {
  readonly name: string
  readonly url: string
  readonly port: number
  readonly pid: number
  /** Its output so far. */
  log(): Promise<string>
  start(): Promise<void>
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Sends a signal, and does not wait. */
  signal(signal: NodeJS.Signals): void
  /** Waits for its end. */
  ended(): Promise<number | null>
  /** Resident memory, in bytes. */
  memory(): Promise<number>
}

export interface ConsoleOptions {
  /** The offset of its clock, as `faketime` parses it: '+1h'. */
  readonly clock?: string
}

export interface ConsolePlace {
  readonly dir: string
  readonly name: string
  readonly port: number
  readonly authority: Authority
  readonly page: string
  /** Other origins whose pages may open screens. */
  readonly pages?: readonly string[]
  readonly database: string
  readonly drainSeconds: number
}

/** The variables that move a process's wall clock, but not its monotonic clock. */
export const moved = (clock: string): Record<string, string> => ({
  LD_PRELOAD: FAKETIME,
  FAKETIME: clock,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})

export async function startConsole(
  place: ConsolePlace,
  { clock }: ConsoleOptions = {},
): Promise<ConsoleProcess> {
  const { name, port, authority } = place
  const config = await writeConsole(place)
  const file = join(place.dir, `${name}.log`)
  const url = `https://${ADDRESS}:${port}`
  let child: ChildProcess | undefined
  const isUp = () => child !== undefined && child.exitCode === null && child.signalCode === null
  const start = async () => {
    child = spawn(process.execPath, [PROGRAM, '--config', config], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, ...(clock !== undefined && moved(clock)) },
    })
    child.stderr?.pipe(createWriteStream(file, { flags: 'a' }))
    await until(
      `${name} should answer`,
      async () => {
        if (!isUp()) throw new Error(`${name} ended: ${await readFile(file, 'utf8')}`)
        return isHealthy(url, authority.site)
      },
      120_000,
    )
  }
  const ended = async () => {
    if (isUp()) await once(child as ChildProcess, 'exit')
    return child?.exitCode ?? null
  }
  const kill = async (signal: NodeJS.Signals = 'SIGKILL') => {
    child?.kill(signal)
    await ended()
  }
  await start()
  return {
    name,
    url,
    port,
    start,
    kill,
    ended,
    get pid() {
      return child?.pid ?? 0
    },
    log: () => readFile(file, 'utf8'),
    signal: (signal) => void child?.kill(signal),
    async memory() {
      const status = await readFile(`/proc/${child?.pid}/status`, 'latin1')
      return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
    },
    [Symbol.asyncDispose]: () => kill(),
  }
}

/** As `skerry admin console-server create` would write it. */
async function writeConsole(place: ConsolePlace): Promise<string> {
  const { dir, name, port, authority, page, pages, database, drainSeconds } = place
  const identity = join(dir, `${name}.identity`)
  await mkdir(identity, { recursive: true })
  const own = await authority.machine('console', name)
  const server = await authority.server(ADDRESS)
  const files = {
    'control.pem': authority.control,
    'hosts.pem': authority.hosts,
    'console.pem': own.cert + authority.control + own.key,
    'server.pem': server.cert + server.key,
  }
  for (const [file, text] of Object.entries(files)) await writeFile(join(identity, file), text)
  const config: ConsoleConfig = {
    name,
    page,
    ...(pages && { pages: [...pages] }),
    listen: { address: ADDRESS, port },
    database,
    identity,
    renewFrom: [{ address: '127.0.0.1', port: 1 }],
    drainSeconds,
  }
  const file = join(dir, `${name}.json`)
  await writeFile(file, JSON.stringify(config))
  return file
}

async function isHealthy(url: string, ca: string): Promise<boolean> {
  try {
    const requested = request(`${url}/health`, { ca, agent: false })
    requested.end()
    const [response] = (await once(requested, 'response')) as [
      NodeJS.ReadableStream & { statusCode: number },
    ]
    response.resume()
    return response.statusCode === 200
  } catch {
    return false
  }
}
