// A bare libvirtd, for the in-memory driver of test:///default: the same daemon and protocol, without any guest.
import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { reasonWithoutRoot } from '../system/packages.ts'
import { until } from '../system/wait.ts'
import { libvirtAnswers } from './libvirt-answers.ts'

const NOBODY = 65534
const START_TIMEOUT_MS = 60_000

export interface Libvirt extends AsyncDisposable {
  readonly socket: string
  /** The daemon's current pid. */
  readonly pid: number
  /** Ends the daemon as a crash would. */
  kill(): Promise<void>
  /** Starts it again on the same socket; kills it first if it runs. */
  restart(): Promise<void>
}

/** Starts a libvirtd in its own directory. Its output goes to the test's diagnostics if a test is given. */
export async function startLibvirt(test?: { diagnostic(line: string): void }): Promise<Libvirt> {
  const missing = reasonWithoutRoot('host')
  if (missing !== undefined) throw new Error(missing)
  const directory = await mkdtemp(join(tmpdir(), 'libvirt-'))
  const socket = join(directory, 'libvirt-sock')
  const config = join(directory, 'libvirtd.conf')
  await writeFile(config, `unix_sock_dir = "${directory}"\nauth_unix_rw = "none"\n`)
  // As root libvirtd would manage the machine's own network and storage.
  const asNobody = process.getuid?.() === 0
  if (asNobody) for (const each of [directory, config]) await chown(each, NOBODY, NOBODY)

  let daemon: ChildProcess | undefined
  const kill = async () => {
    if (daemon === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return
    daemon.kill('SIGKILL')
    await once(daemon, 'exit')
  }
  const restart = async () => {
    await kill()
    await rm(socket, { force: true })
    const started = startDaemon(directory, config, asNobody)
    daemon = started
    started.stderr?.on('data', (line: Buffer) => test?.diagnostic(line.toString().trim()))
    const answers = () => {
      if (started.exitCode === null) return libvirtAnswers(socket)
      throw new Error(`libvirtd ended with ${started.exitCode} instead of opening ${socket}`)
    }
    await until('libvirtd should answer', answers, START_TIMEOUT_MS)
  }
  const dispose = async () => {
    await kill()
    await rm(directory, { recursive: true, force: true })
  }

  await restart().catch(async (error: unknown) => {
    await dispose()
    throw error
  })
  return {
    socket,
    get pid() {
      if (daemon?.pid === undefined) throw new Error('libvirtd does not run: restart it')
      return daemon.pid
    },
    kill,
    restart,
    [Symbol.asyncDispose]: dispose,
  }
}

function startDaemon(directory: string, config: string, asNobody: boolean): ChildProcess {
  const nobody = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups']
  const libvirtd = ['libvirtd', '--config', config, '--pid-file', join(directory, 'pid')]
  return spawn(
    // It dies with us, so that a crashing test leaves nothing running.
    'setpriv',
    [...(asNobody ? nobody : []), '--pdeathsig', 'KILL', ...libvirtd],
    {
      env: {
        PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
        HOME: directory,
        XDG_CACHE_HOME: directory,
        XDG_CONFIG_HOME: directory,
        XDG_RUNTIME_DIR: directory,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
}
