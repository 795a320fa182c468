// The consoles of a lab's cloud: two processes behind one address that is not the cloud's.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

import { startBalancerProcess } from '../servers/balancer-process.ts'
import { labServer, type LabServer } from '../servers/server-process.ts'
import type { Administer } from './administer.ts'
import { CONSOLE_ADDRESS, type CloudPlan, type ConsolePlan } from './cloud-plan.ts'

const PROGRAM = join(import.meta.dirname, '../../../../apps/console/src/main.ts')

export interface LabConsole {
  /** The balancer's URL. */
  readonly url: string
  /** The URL before `?` and a ticket. */
  readonly page: string
  readonly consoles: readonly LabServer[]
}

export const pageOf = (url: string): string => `${url}/console`

/** Creates and starts the consoles of a plan, or those of them that are down. */
export async function startConsoles(
  lab: string,
  { url, port, all }: NonNullable<CloudPlan['console']>,
  administer: Administer,
  started: { readonly netns: string; readonly outlives: boolean },
): Promise<LabConsole> {
  for (const { name, dir, config, port: own } of all) {
    if (existsSync(config)) continue
    const at = ['--page', url, '--listen', `${CONSOLE_ADDRESS}:${own}`]
    await administer(['console-server', 'create', name, '--out', dir, ...at])
  }
  const consoles = all.map((plan) => labConsole(plan, started))
  for (const each of consoles) await each.start()
  const behind = all.map(({ port: own }) => ({ host: CONSOLE_ADDRESS, port: own }))
  await startBalancerProcess(join(lab, 'console-balancer'), behind, {
    ...started,
    port,
    address: CONSOLE_ADDRESS,
  })
  return { url, page: pageOf(url), consoles }
}

function labConsole(
  { name, dir, config, url, port }: ConsolePlan,
  started: { readonly netns: string; readonly outlives: boolean },
): LabServer {
  return labServer({
    ...started,
    name,
    dir,
    url,
    ports: [port],
    log: logOf(dir),
    command: [process.execPath, PROGRAM, '--config', config],
  })
}

export const logOf = (dir: string): string => join(dir, 'console.log')
