// Brings a site up: inspects, decides, and runs the steps in order. After an interruption at any point the next run resumes.
import { chmod, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

import { temporalVersion } from '@skerry/site'

import type { CliContext } from '../command.ts'
import { showProgress } from '../terminal/progress.ts'
import { inspectSite } from './inspect-site.ts'
import { makers } from './make.ts'
import { administering } from './servers/administer.ts'
import { keeperOf, type Keeper } from './servers/keeper.ts'
import { until } from './servers/until.ts'
import { decide, sayStep, type SiteStep } from './site/decide.ts'
import { mark, passwordsOf, type Passwords } from './site/keep.ts'
import { files, type Site } from './site/site.ts'

const OPEN_MS = 120_000
/** Others may pass through the directory but not list it. */
const DIRECTORY_MODE = 0o711

/** Creates the directory and its missing parents so that PostgreSQL's user can pass through them, regardless of the umask. */
export async function makeSiteDirectory(dir: string): Promise<void> {
  const first = await mkdir(dir, { recursive: true, mode: DIRECTORY_MODE })
  if (first === undefined) return
  for (let made = dir; made.length >= first.length; made = dirname(made)) {
    await chmod(made, DIRECTORY_MODE)
  }
}

export interface Brought {
  readonly keeper: Keeper
  readonly passwords: Passwords
  /** Descriptions of the steps that were run. */
  readonly done: readonly string[]
}

export interface How {
  /** The image of the template, if none is to be built. */
  readonly image: string | undefined
  /** The Node executable. */
  readonly node: string
  /** Prints nothing and stops if all servers are running. */
  readonly quiet?: boolean
  /** That of an earlier call, whose log writers still run. Default: a new one. */
  readonly keeper?: Keeper
}

export async function bringUp(
  context: CliContext,
  site: Site,
  { image, node, quiet = false, keeper = keeperOf(site, context) }: How,
): Promise<Brought> {
  await makeSiteDirectory(site.dir)
  const passwords = await passwordsOf(site.dir, context.secret)
  const all = decide(await inspectSite(context, site, keeper, image))
  const steps = quiet && all.every((step) => step.do === 'open') ? [] : all
  const titles = new Map(site.servers.map(({ name, title }) => [name, title]))
  const done: string[] = []
  for (const [at, step] of steps.entries()) {
    const doing = sayStep(step, titles)
    const label = `step ${at + 1} of ${steps.length}: ${doing}`
    // Without a terminal each step is printed as a line, so that a log shows the progress.
    if (context.screen === undefined) context.complain(label)
    await showProgress(context, label, async (report) =>
      act({ context, site, keeper, passwords, image, node }, step, (more) =>
        report(undefined, more),
      ),
    )
    done.push(doing)
  }
  // Some servers do not listen: one that exited after its start is found here.
  for (const server of site.servers) if (server.listens.length === 0) await keeper.start(server)
  return { keeper, passwords, done }
}

interface Hands {
  readonly context: CliContext
  readonly site: Site
  readonly keeper: Keeper
  readonly passwords: Passwords
  readonly image: string | undefined
  readonly node: string
}

async function act(hands: Hands, step: SiteStep, say: (doing: string) => void): Promise<void> {
  const { site, keeper } = hands
  if (step.do === 'make') {
    await makers[step.what]({ ...hands, report: say })
    return mark(site.dir, step.what, step.what === 'tables' ? temporalVersion : '')
  }
  if (step.do === 'open') return untilOpen(hands)
  const server = site.servers.find(({ name }) => name === step.server)
  if (!server) throw new Error(`a site has no ${step.server}`)
  if (step.do === 'start') await keeper.start(server)
  else await keeper.stop(server)
}

interface HostRow {
  readonly state: string
  readonly enabled: boolean
  readonly seen: boolean
}

async function untilOpen({ context, site, node }: Hands): Promise<void> {
  const administer = administering(node, files(site.dir).cloud)
  const isOpen = async () => {
    const rows = (await administer(['host', 'list'])) as readonly HostRow[]
    const open = rows.some(({ state, enabled, seen }) => state === 'joined' && enabled && seen)
    return open ? true : undefined
  }
  await until(context, OPEN_MS, isOpen, async () => ({
    message: 'the cloud does not accept this machine as a host',
    hint: 'a vmd that was already running must be restarted: sudo systemctl restart skerry-vmd; then skerry up; sudo skerry admin host list shows the host',
  }))
}
