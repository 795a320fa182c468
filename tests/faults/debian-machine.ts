// A complete Debian 12 with systemd as its first process, built from packages and booted in namespaces by systemd-nspawn.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

import { childrenOf, killAndWait, nameOf } from '../../tools/lab/src/system/processes.ts'
import { attempt, run, type Outcome, type RunOptions } from '../../tools/lab/src/system/run.ts'
import { until } from '../../tools/lab/src/system/wait.ts'

const SUITE = 'bookworm'
const BOOT_TIMEOUT_MS = 120_000
const ENVIRONMENT = ['PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'LC_ALL=C.UTF-8']

export class DebianMachine implements AsyncDisposable {
  /** Its file system, seen from outside. */
  readonly root: string
  readonly #directory: string
  #nspawn: ChildProcess | undefined

  private constructor(directory: string) {
    this.#directory = directory
    this.root = join(directory, 'root')
  }

  /** Installs a system with these packages and their dependencies, without recommended ones. */
  static async make(packages: readonly string[]): Promise<DebianMachine> {
    const machine = new DebianMachine(await mkdtemp(join(tmpdir(), 'skerry-machine-')))
    try {
      await run([
        'mmdebstrap',
        '--mode=root',
        '--variant=minbase',
        `--include=${['systemd-sysv', 'dbus', ...packages].join(',')}`,
        '--aptopt=APT::Install-Recommends "false"',
        '--aptopt=Acquire::Retries "3"',
        SUITE,
        machine.root,
      ])
    } catch (error) {
      await machine[Symbol.asyncDispose]()
      throw error
    }
    return machine
  }

  /** Its first process, in our pid namespace. */
  get #first(): number {
    const first = this.#findFirst()
    if (first === undefined) throw new Error('the machine is off: boot it first')
    return first
  }

  #findFirst(): number | undefined {
    return childrenOf(this.#nspawn?.pid ?? 0).find((pid) => nameOf(pid) === 'systemd')
  }

  get #log(): string {
    return join(this.#directory, 'console.log')
  }

  /** All console output since the last boot. */
  get console(): string {
    return readFileSync(this.#log, 'utf8')
  }

  /** Boots it and waits until systemd has started everything. */
  async boot(): Promise<void> {
    const log = openSync(this.#log, 'w')
    this.#nspawn = spawn(
      'systemd-nspawn',
      [
        '--quiet',
        '--boot',
        '--directory',
        this.root,
        '--machine',
        basename(this.#directory),
        // There is no systemd outside to register it at. Its network has no route out.
        '--register=no',
        '--keep-unit',
        '--private-network',
        '--console=read-only',
        '--bind=/dev/net/tun',
      ],
      {
        stdio: ['ignore', log, log],
        // As on a real Debian 12, regardless of the machine outside.
        env: { ...process.env, SYSTEMD_NSPAWN_UNIFIED_HIERARCHY: '1' },
      },
    )
    closeSync(log)
    const asks = ['systemctl', 'is-system-running']
    await until(
      `systemd should have started everything; see ${this.#log}`,
      async () => {
        try {
          return /^(running|degraded)/.test((await this.attempt(asks)).stdout)
        } catch {
          return false
        }
      },
      BOOT_TIMEOUT_MS,
    )
  }

  /** Runs a program on it to its end, with any exit code. */
  async attempt(command: readonly string[], options?: RunOptions): Promise<Outcome> {
    return attempt(this.#inside(command), options)
  }

  /** Runs a program on it; an exit code other than 0 is an error. */
  async run(command: readonly string[], options?: RunOptions): Promise<string> {
    return run(this.#inside(command), options)
  }

  #inside(command: readonly string[]): string[] {
    return [
      'nsenter',
      '-t',
      String(this.#first),
      '-a',
      '--wdns=/',
      'env',
      '-i',
      ...ENVIRONMENT,
    ].concat(command)
  }

  /** Its first process, by which its network is found. */
  get pid(): number {
    return this.#first
  }

  /** Starts a program of ours in its network. */
  spawn(command: readonly string[], options: SpawnOptions): ChildProcess {
    return spawn('nsenter', ['-t', String(this.#first), '-n', '--', ...command], options)
  }

  /** Starts a program on it. */
  begin(command: readonly string[], options: SpawnOptions): ChildProcess {
    const [program = '', ...words] = this.#inside(command)
    return spawn(program, words, options)
  }

  /** Runs a program in its file system while it is off, with this machine's network and CAs: it has no route out while it is on. */
  async install(command: readonly string[]): Promise<string> {
    const trusted = '/etc/ssl/certs/ca-certificates.crt'
    return run([
      'systemd-nspawn',
      '--quiet',
      '--directory',
      this.root,
      '--register=no',
      '--keep-unit',
      '--pipe',
      '--machine',
      basename(this.#directory),
      `--bind-ro=${trusted}`,
      `--setenv=NODE_EXTRA_CA_CERTS=${trusted}`,
      '--setenv=LC_ALL=C.UTF-8',
      '--setenv=HOME=/root',
      '--',
      ...command,
    ])
  }

  /** Sends a request to a server on it, with the curl outside. */
  async curl(...words: string[]): Promise<Outcome> {
    return attempt(['nsenter', '-t', String(this.#first), '-n', 'curl', '-s', '-m', '5', ...words])
  }

  /** Presses its power button, and waits until it is off. */
  async powerOff(): Promise<void> {
    const off = this.#nspawn && once(this.#nspawn, 'exit')
    await this.run(['systemctl', 'poweroff', '--no-block'])
    await off
    this.#nspawn = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#nspawn?.exitCode === null && this.#nspawn.signalCode === null) {
      const off = once(this.#nspawn, 'exit')
      // All other processes end with the first one; nspawn alone would leave them running.
      const first = this.#findFirst()
      if (first !== undefined) await killAndWait([first])
      this.#nspawn.kill('SIGKILL')
      await off
    }
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 5 })
    const name = basename(this.#directory)
    await rm(`/run/systemd/nspawn/propagate/${name}`, { recursive: true, force: true })
  }
}
