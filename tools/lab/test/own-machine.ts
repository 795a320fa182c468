import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startHost, type LabReport } from '../src/index.ts'

/** The lab's command. */
export const MAIN = join(import.meta.dirname, '../src/main.ts')

/** A separate machine to run labs on, and functions to inspect it. */
export async function ownMachine() {
  const dir = await mkdtemp(join(tmpdir(), 'lab-'))
  const machine = await startHost({ dir: join(dir, 'm') })
  return {
    machine,
    /** The directory for labs. */
    dir,
    lab: async (...args: string[]) => {
      const outcome = await machine.run([process.execPath, MAIN, ...args])
      return { ...outcome, report: () => JSON.parse(outcome.stdout) as LabReport }
    },
    traces: async () => {
      const looks = [
        // An ended process whose exit code the machine's first process has not collected yet holds nothing any more.
        'ps -eo pid,args --no-headers | grep -v "sh -c ps\\|ps -eo\\|grep\\|<defunct>"',
        'cut -d" " -f3-5 /proc/self/mountinfo',
        'ip -brief link | cut -d" " -f1',
        'lsns --noheadings --type net --output NS',
        'ls -A /run/netns',
        'ss -Hlntx | grep -v libvirt | grep -v virtlog | awk "{print \\$5}"',
        `ls -A ${dir}`,
      ]
      // Mounts of this machine appear in the separate one too, and come and go with other tests.
      const others = await mounts()
      const { stdout } = await machine.run(['sh', '-c', looks.join('; echo; ')])
      for (const mount of await mounts()) others.add(mount)
      // The networks' names are listed by themselves.
      return stdout.split('\n').filter((line) => !others.has(line) && !/^\S+ net:/.test(line))
    },
    async [Symbol.asyncDispose]() {
      await machine[Symbol.asyncDispose]()
      await rm(dir, { recursive: true, force: true })
    },
  }
}

/** Device, root and mount point of each mount of this machine. */
async function mounts(): Promise<Set<string>> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n').filter(Boolean)
  return new Set(lines.map((line) => line.split(' ').slice(2, 5).join(' ')))
}
