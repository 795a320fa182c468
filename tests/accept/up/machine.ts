// A lab machine on which a user types commands.
import { join } from 'node:path'

import type { LabHost } from '@skerry/lab'

export const ROOT = join(import.meta.dirname, '../../..')
export const SKERRY = join(ROOT, 'apps/cli/bin/skerry')

/** Our own programs, and the programs of the machine's clone. */
const environment = () => ({
  ...process.env,
  PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env['PATH']}`,
})

export const onMachine = (host: LabHost) => ({
  shell: (script: string) => host.run(['bash', '-c', script], { cwd: ROOT, env: environment() }),
  skerry: (...words: string[]) => host.run([SKERRY, ...words], { env: environment() }),
  /** The same, as a process that can be killed. */
  begin: (...words: string[]) =>
    host.spawn([process.execPath, join(ROOT, 'apps/cli/src/main.ts'), ...words], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
})

/** The running processes of a site on the machine, by the first words of each: the child processes of PostgreSQL have other names. */
export async function serversOf(host: LabHost): Promise<readonly string[]> {
  const { stdout } = await host.run(['ps', '-axww', '-o', 'args='])
  const ours = /bin\/postgres -D|temporal-v[^/]*\/server|apps\/\w+\/src\/main\.ts|\/initdb /
  return stdout.split('\n').filter((line) => ours.test(line))
}

/** Processes with this text in their command line. */
export async function pidsOf(host: LabHost, wanted: string): Promise<readonly string[]> {
  const { stdout } = await host.run(['ps', '-axww', '-o', 'pid=,args='])
  return stdout
    .split('\n')
    .filter((line) => line.includes(wanted))
    .map((line) => line.trim().split(' ')[0] ?? '')
}
