// Who keeps the servers running: this machine's processes, or systemd.
import { mkdir, readFile } from 'node:fs/promises'

import { askProgram } from '../child.ts'
import type { World } from '../command.ts'
import { Failure } from '../failure.ts'
import { keepFile } from '../keep-file.ts'
import { isThere } from './keep.ts'
import { findProcess, signalTo, startProcess } from './processes.ts'
import { files, type Server, type Site } from './site.ts'
import { unitFile, unitName, unitText } from './units.ts'
import { until } from './until.ts'

const UP_MS = 180_000
const END_MS = 60_000
const LAST_LINES = 8

export interface Keeper {
  /** Its pid while it runs. */
  running(server: Server): Promise<number | undefined>
  /** Starts it and answers when it listens. */
  start(server: Server): Promise<void>
  /** Asks it to end, insists after a while, and answers when it is gone; whether there was anything to end. */
  stop(server: Server): Promise<boolean>
}

type Clock = Pick<World, 'now' | 'wait' | 'listens'>

export const keeperOf = (site: Site, clock: Clock): Keeper =>
  site.settled.asked.systemd ? bySystemd(site, clock) : byProcesses(site, clock)

function byProcesses({ dir }: Site, clock: Clock): Keeper {
  const running = async (server: Server) => findProcess(dir, server)
  return {
    running,
    async start(server) {
      await mkdir(files(dir).logs, { recursive: true, mode: 0o700 })
      const pid = (await running(server)) ?? startProcess(dir, server)
      // While it becomes another program its mark cannot be read.
      await untilUp(clock, server, async () => signalTo(pid, 0))
    },
    async stop(server) {
      const pid = await running(server)
      if (pid === undefined) return false
      signalTo(pid, server.ends)
      const gone = async () => ((await running(server)) === pid ? undefined : true)
      await until(clock, END_MS, gone, async () => stays(server)).catch(async () => {
        // Whatever it was at is written down, and the next start goes on with it.
        if ((await running(server)) === pid) signalTo(pid, 'SIGKILL')
        await until(clock, END_MS, gone, async () => stays(server))
      })
      return true
    },
  }
}

const stays = ({ title, log }: Server) => ({
  message: `${title} does not end`,
  hint: `see ${log}; then skerry down again`,
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
      await mkdir(files(site.dir).logs, { recursive: true, mode: 0o700 })
      await keepFile(unitFile(server.name), unitText(server))
      await systemctl('daemon-reload')
      const { code, err } = await systemctl('enable', '--now', unitName(server.name))
      if (code !== 0) {
        throw new Failure('refused', `systemd did not start ${server.title}: ${err.trim()}`, {
          hint: `journalctl -u ${unitName(server.name)}`,
        })
      }
      await untilUp(clock, server, async () => (await running(server)) !== undefined)
    },
    async stop(server) {
      const wasThere = await isThere(unitFile(server.name))
      if (wasThere) await systemctl('disable', '--now', unitName(server.name))
      return wasThere
    },
  }
}

async function untilUp(clock: Clock, server: Server, runs: () => Promise<boolean>): Promise<void> {
  const look = async () => {
    if (!(await runs())) throw await ended(server)
    for (const place of server.listens) if (!(await isOpen(clock, place))) return undefined
    const serves = !server.ready || (await askProgram(server.ready)).code === 0
    return serves ? true : undefined
  }
  await until(clock, UP_MS, look, async () => ({
    message: `${server.title} runs and does not listen: ${await lastWords(server.log)}`,
    hint: `see ${server.log}; skerry up goes on where it was`,
  }))
}

const ended = async ({ title, log }: Server): Promise<Failure> =>
  new Failure('refused', `${title} ended at once: ${await lastWords(log)}`, {
    hint: `mend what ${log} tells of, then skerry up again: it goes on where it was`,
  })

/** What listens everywhere listens on loopback too. */
async function isOpen({ listens }: Clock, place: string): Promise<boolean> {
  const [, address = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(place) ?? []
  return listens(address === '::' || address === '0.0.0.0' ? '127.0.0.1' : address, Number(port))
}

async function lastWords(log: string): Promise<string> {
  const text = await readFile(log, 'utf8').catch(() => '')
  return text.trim().split('\n').slice(-LAST_LINES).join('\n') || 'it said nothing'
}
