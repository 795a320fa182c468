import { mkdtemp, rm } from 'node:fs/promises'
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
        'ps -eo pid,args --no-headers | grep -v "sh -c ps\\|ps -eo\\|grep"',
        // The networks' names are checked below; mounts of others come and go.
        'cut -d" " -f4,5 /proc/self/mountinfo | grep -v ^net:',
        'ip -brief link | cut -d" " -f1',
        'lsns --noheadings --type net --output NS',
        'ls -A /run/netns',
        'ss -Hlntx | grep -v libvirt | grep -v virtlog | awk "{print \\$5}"',
        `ls -A ${dir}`,
      ]
      const { stdout } = await machine.run(['sh', '-c', looks.join('; echo; ')])
      return stdout.split('\n')
    },
    async [Symbol.asyncDispose]() {
      await machine[Symbol.asyncDispose]()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
