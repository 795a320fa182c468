// Inspects what is mounted for the guest of a VM, on the host and in the namespace of its virtiofsd.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import type { LabHost } from '@skerry/lab'

import { identity } from '../../packages/engine/test/hostile-paths.ts'

export interface Shown {
  /** The directory that a reader finds, by device and inode; undefined if nothing is mounted. */
  readonly found: string | undefined
  /** Its current name in its file system, according to the kernel. */
  readonly root: string
  readonly isReadOnly: boolean
}

const NOTHING: Shown = { found: undefined, root: '', isReadOnly: false }

export class Onlooker {
  readonly #shares: string
  readonly #host: number
  readonly #server: number

  /** The VM runs, and the current vmd has enabled its sharing. */
  constructor({ init, vmd }: LabHost, id: string) {
    assert.ok(vmd)
    this.#shares = `/run/skerry/shares/${id}`
    this.#host = init
    this.#server = findServer(vmd.pid, `--socket-path=/run/skerry/sockets/${id}.sock`)
  }

  /** What is at a guest path: the same on the host and where the guest is served from. */
  async look(guestPath: string): Promise<Shown> {
    const here = await shownAt(this.#host, `${this.#shares}/${guestPath}`)
    const there = await shownAt(this.#server, `/${guestPath}`)
    assert.deepEqual([there.found, there.isReadOnly], [here.found, here.isReadOnly], there.root)
    return here
  }

  /** Nothing is mounted for the guest, nothing is left over, and nothing can be read at its path. */
  async assertNothing(why: string): Promise<void> {
    const own = await placesOf(this.#host)
    const ours = own.filter((place) => place.startsWith('/run/skerry/'))
    assert.deepEqual(ours, [this.#shares], why)
    assert.deepEqual(await placesOf(this.#server), ['/'], why)
    for (const root of [`/proc/${this.#host}/root${this.#shares}`, `/proc/${this.#server}/root`])
      for (const name of await readdir(root))
        assert.deepEqual(await readdir(join(root, name)), [], why)
  }
}

async function shownAt(pid: number, place: string): Promise<Shown> {
  const mounts = (await mountsOf(pid)).filter((mount) => mount.place === place)
  assert.ok(mounts.length <= 1, `${mounts.length} mounts at ${place}`)
  const [mount] = mounts
  if (!mount) return NOTHING
  const { root, isReadOnly } = mount
  return { root, isReadOnly, found: await identity(`/proc/${pid}/root${place}`) }
}

const placesOf = async (pid: number): Promise<string[]> =>
  (await mountsOf(pid)).map(({ place }) => place)

async function mountsOf(pid: number) {
  const table = await readFile(`/proc/${pid}/mountinfo`, 'utf8')
  return table
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, , , root = '', place = '', options = ''] = line.split(' ')
      return { root, place, isReadOnly: options.split(',').includes('ro') }
    })
}

/** virtiofsd is two processes, in their own mount namespace; the younger one serves. */
function findServer(vmd: number, word: string): number {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isServer(name, word) && descends(Number(name), vmd))
    .map(Number)
  const serving = found.filter((pid) => found.includes(parentOf(pid)))
  assert.equal(serving.length, 1, `${serving.length} processes serve with ${word}`)
  const [pid = 0] = serving
  assert.notEqual(mountNamespace(pid), mountNamespace(vmd))
  return pid
}

function isServer(pid: string, word: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word)
  } catch {
    return false
  }
}

/** Hosts of other labs may have a VM of the same name. */
function descends(pid: number, from: number): boolean {
  for (let each = pid; each > 1; each = parentOf(each)) if (each === from) return true
  return false
}

/** 0 if it has ended: processes of other labs end at any time. */
function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return 0
  }
}

const mountNamespace = (pid: number): string => readlinkSync(`/proc/${pid}/ns/mnt`)
