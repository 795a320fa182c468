// Starts and stops the servers, as plain processes or as systemd units.
import { mkdir, readFile } from 'node:fs/promises'

import { writeDurably } from '@skerry/durable-file'

import type { CliContext } from '../../command.ts'
import { askProgram } from '../../machine/child.ts'
import { Failure } from '../../terminal/failure.ts'
import { isThere } from '../site/keep.ts'
import { files, unitName, type Server, type Site } from '../site/site.ts'
import { findProcess, signalTo, startProcess } from './processes.ts'
import { ServerLogs } from './server-logs.ts'
import { unitFile, unitText } from './units.ts'
import { until } from './until.ts'
import { forItsUser } from './users.ts'

const UP_MS = 180_000
const END_MS = 60_000
const LAST_LINES = 8
const LOG_MS = 3_000

export interface Keeper {
  /** Its pid, if it is running. */
  running(server: Server): Promise<number | undefined>
  /** Starts it and returns once it listens. */
  start(server: Server): Promise<void>
  /** Stops it, kills it after a timeout, and returns once it is gone; false if it was not running. */
  stop(server: Server): Promise<boolean>
}

type Clock = Pick<CliContext, 'now' | 'wait' | 'listens' | 'complain'>

export const keeperOf = (site: Site, clock: Clock): Keeper =>
  site.settled.requested.systemd ? bySystemd(site, clock) : byProcesses(site, clock)

function byProcesses({ dir, servers }: Site, clock: Clock): Keeper {
  const logs = new ServerLogs(servers)
  const running = async (server: Server) => findProcess(dir, server)
  return {
    running,
    async start(server) {
      await mkdir(files(dir).logs, { recursive: true, mode: 0o700 })
      const pid =
        (await running(server)) ??
        startProcess(dir, await forItsUser(server, clock), logs.of(server))
      // During exec its environment, and so its mark, cannot be read.
      const runs = async () => signalTo(pid, 0)
      await untilUp(clock, server, { runs, lastWords: () => lastInFile(clock, server.log) })
    },
    async stop(server) {
      const pid = await running(server)
      if (pid === undefined) return false
      signalTo(pid, server.ends)
      const gone = async () => ((await running(server)) === pid ? undefined : true)
      await until(clock, END_MS, gone, async () => stays(server)).catch(async () => {
        // Its work is persisted, and the next start resumes it.
        if ((await running(server)) === pid) signalTo(pid, 'SIGKILL')
        await until(clock, END_MS, gone, async () => stays(server))
      })
      return true
    },
  }
}

const stays = ({ title, log }: Server) => ({
  message: `${title} does not stop`,
  hint: `see ${log}; then run skerry down again`,
})

function bySystemd(site: Site, clock: Clock): Keeper {
  const systemctl = async (...words: string[]) => askProgram(['systemctl', ...words])
  const running = async (server: Server) => {
    const { out } = await systemctl('show', '--value', '--property=MainPID', unitName(server.name))
    return Number(out.trim()) || undefined
  }
  return {
    running,
    async start(server) {
      await writeDurably(unitFile(server.name), unitText(await forItsUser(server, clock), site.dir))
      await systemctl('daemon-reload')
      const { code, err } = await systemctl('enable', '--now', unitName(server.name))
      if (code !== 0) {
        throw new Failure('refused', `systemd did not start ${server.title}: ${err.trim()}`, {
          hint: `journalctl -u ${unitName(server.name)}`,
        })
      }
      const runs = async () => (await running(server)) !== undefined
      await untilUp(clock, server, { runs, lastWords: () => lastInJournal(server) })
    },
    async stop(server) {
      const wasThere = await isThere(unitFile(server.name))
      if (wasThere) await systemctl('disable', '--now', unitName(server.name))
      return wasThere
    },
  }
}

interface Seen {
  readonly runs: () => Promise<boolean>
  /** Its last output. */
  readonly lastWords: () => Promise<string>
}

async function untilUp(clock: Clock, server: Server, { runs, lastWords }: Seen): Promise<void> {
  const look = async () => {
    if (!(await runs())) throw ended(server, await lastWords())
    for (const place of server.listens) if (!(await isOpen(clock, place))) return undefined
    const serves = !server.ready || (await askProgram(server.ready)).code === 0
    return serves ? true : undefined
  }
  await until(clock, UP_MS, look, async () => ({
    message: `${server.title} is running but does not listen: ${await lastWords()}`,
    hint: `see ${server.log}; skerry up resumes`,
  }))
}

const ended = ({ title, log }: Server, said: string): Failure =>
  new Failure('refused', `${title} exited at once: ${said}`, {
    hint: `fix the problem reported in ${log}, then run skerry up again: it resumes`,
  })

/** A wildcard address also listens on loopback. */
async function isOpen({ listens }: Clock, place: string): Promise<boolean> {
  const [, address = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(place) ?? []
  return listens(address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address, Number(port))
}

/** The log writer may be a moment behind a server that has exited. */
async function lastInFile(clock: Clock, log: string): Promise<string> {
  const look = async () => {
    const text = await readFile(log, 'utf8').catch(() => '')
    return text.trim().split('\n').slice(-LAST_LINES).join('\n') || undefined
  }
  const silent = { message: 'no output', hint: '' }
  return until(clock, LOG_MS, look, async () => silent).catch(() => silent.message)
}

async function lastInJournal({ name }: Server): Promise<string> {
  const words = ['-u', unitName(name), '-n', String(LAST_LINES), '-o', 'cat', '--no-pager']
  const { out } = await askProgram(['journalctl', ...words])
  return out.trim() || 'no output'
}
