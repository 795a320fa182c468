import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const START_TIMEOUT_MS = 60_000
const NOBODY = 65_534
const PROGRAM = '/usr/sbin/libvirtd'

export const needsLibvirtd = existsSync(PROGRAM)
  ? false
  : 'needs libvirtd (libvirt-daemon): npm run setup'

export interface Libvirtd extends AsyncDisposable {
  readonly socket: string
  /** A directory for files that the daemon may read and write. */
  readonly directory: string
  readonly process: ChildProcess
}

/** A separate libvirtd for the test, unprivileged, in its own directory. */
export async function startLibvirtd(settings: readonly string[] = []): Promise<Libvirtd> {
  const directory = await mkdtemp(join(tmpdir(), 'libvirt-test-'))
  const config = join(directory, 'libvirtd.conf')
  const lines = [`unix_sock_dir = "${directory}"`, 'auth_unix_rw = "none"', ...settings]
  await writeFile(config, `${lines.join('\n')}\n`)
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chown(directory, NOBODY, NOBODY)
  await chmod(directory, 0o755)
  const daemon = spawn(PROGRAM, ['--config', config, '--pid-file', join(directory, 'pid')], {
    env: {
      PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: directory,
      XDG_CACHE_HOME: directory,
      XDG_CONFIG_HOME: directory,
      XDG_RUNTIME_DIR: directory,
    },
    stdio: 'ignore',
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
  })
  const exited = once(daemon, 'exit')
  const socket = join(directory, 'libvirt-sock')
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!(await answers(socket))) {
    if (daemon.exitCode !== null) throw new Error(`libvirtd ended with ${daemon.exitCode}`)
    if (performance.now() > deadline) throw new Error(`libvirtd did not open ${socket} in time`)
    await sleep(10)
  }
  return {
    socket,
    directory,
    process: daemon,
    async [Symbol.asyncDispose]() {
      daemon.kill('SIGKILL')
      await exited
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
