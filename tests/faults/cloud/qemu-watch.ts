// Reads the QEMU processes ten times a second: a VM has at most one, on any host, at every read.
import { readdirSync, readFileSync } from 'node:fs'

const LOOK_MS = 100

/** One QEMU process of a VM. */
export interface Life {
  readonly pid: number
  readonly vm: string
  /** The reads between which it ended, in milliseconds since 1970; undefined while it runs. */
  readonly ended?: { readonly after: number; readonly before: number }
}

export class QemuWatch implements Disposable {
  /** All that were ever seen twice at the same read. */
  readonly doubled: string[] = []
  /** Every one that was ever seen and has ended. */
  readonly over: Life[] = []
  looks = 0
  #last: readonly Life[] = []
  #lastAt = 0
  readonly #timer: NodeJS.Timeout
  /** The VM of a process; undefined for all other processes of the machine. */
  readonly #known = new Map<string, string | undefined>()

  constructor() {
    this.#timer = setInterval(() => this.#look(), LOOK_MS)
  }

  /** Those that run now. */
  running(): Life[] {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    const there = new Set(pids)
    for (const pid of this.#known.keys()) if (!there.has(pid)) this.#known.delete(pid)
    return pids.flatMap((pid) => {
      const vm = this.#vmOf(pid)
      return vm === undefined || !isAlive(pid) ? [] : [{ pid: Number(pid), vm }]
    })
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    this.looks += 1
    const seen = new Map<string, number>()
    // Before the processes are read: one of them may end, and its task too, before the last is read.
    const began = Date.now()
    const running = this.running()
    for (const { pid, vm } of running) {
      const other = seen.get(vm)
      if (other !== undefined) this.doubled.push(`VM ${vm} has the QEMUs ${other} and ${pid}`)
      seen.set(vm, pid)
    }
    const ended = { after: this.#lastAt, before: Date.now() }
    for (const life of this.#last) {
      if (!running.some(({ pid, vm }) => pid === life.pid && vm === life.vm))
        this.over.push({ ...life, ended })
    }
    this.#last = running
    this.#lastAt = began
  }

  #vmOf(pid: string): string | undefined {
    if (this.#known.has(pid)) return this.#known.get(pid)
    const name = read(`/proc/${pid}/comm`)
    // A child that has not yet executed its program is read again.
    if (name === undefined || !name.startsWith('qemu-system')) {
      if (name !== undefined && !/libvirt|rpc-|setpriv|sh$/.test(name.trim()))
        this.#known.set(pid, undefined)
      return undefined
    }
    const vm = /guest=cloud-([0-9a-f-]{36})/.exec(read(`/proc/${pid}/cmdline`) ?? '')?.[1]
    this.#known.set(pid, vm)
    return vm
  }
}

/** A zombie process does not count as QEMU. */
const isAlive = (pid: string): boolean => /^State:\s+[^ZX]/m.test(read(`/proc/${pid}/status`) ?? '')

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return undefined
  }
}
