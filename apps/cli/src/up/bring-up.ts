// Brings a site up: looks, decides, acts, one step after the other. Cut short anywhere, the next one goes on.
import { mkdir } from 'node:fs/promises'

import { temporalVersion } from '@skerry/site'

import type { World } from '../command.ts'
import { showProgress } from '../progress.ts'
import { administering } from './administer.ts'
import { decide, sayStep, type Step } from './decide.ts'
import { mark, passwordsOf, type Passwords } from './keep.ts'
import { keeperOf, type Keeper } from './keeper.ts'
import { look } from './look.ts'
import { makers } from './make.ts'
import { files, type Site } from './site.ts'
import { until } from './until.ts'

const OPEN_MS = 120_000
/** What goes through it as a directory need not see what is in it. */
export const DIRECTORY_MODE = 0o711

export interface Brought {
  readonly keeper: Keeper
  readonly passwords: Passwords
  /** What was done, in words. */
  readonly done: readonly string[]
}

export interface How {
  /** What the template is made of, where none is to be built. */
  readonly image: string | undefined
  /** The program that runs ours. */
  readonly node: string
  /** Says nothing and looks no further where everything runs. */
  readonly quiet?: boolean
}

export async function bringUp(
  world: World,
  site: Site,
  { image, node, quiet = false }: How,
): Promise<Brought> {
  await mkdir(site.dir, { recursive: true, mode: DIRECTORY_MODE })
  const passwords = await passwordsOf(site.dir, world.secret)
  const keeper = keeperOf(site, world)
  const all = decide(await look(world, site, keeper, image))
  const steps = quiet && all.every((step) => step.do === 'open') ? [] : all
  const titles = new Map(site.servers.map(({ name, title }) => [name, title]))
  const done: string[] = []
  for (const [at, step] of steps.entries()) {
    const doing = sayStep(step, titles)
    const label = `step ${at + 1} of ${steps.length}: ${doing}`
    // Without a terminal each step is a line, so that a log tells how far it came.
    if (world.screen === undefined) world.complain(label)
    await showProgress(world, label, async (tell) =>
      act({ world, site, keeper, passwords, image, node }, step, (more) => tell(undefined, more)),
    )
    done.push(doing)
  }
  // Not all of them listen: one that ended after it was started is found here.
  for (const server of site.servers) if (server.listens.length === 0) await keeper.start(server)
  return { keeper, passwords, done }
}

interface Hands {
  readonly world: World
  readonly site: Site
  readonly keeper: Keeper
  readonly passwords: Passwords
  readonly image: string | undefined
  readonly node: string
}

async function act(hands: Hands, step: Step, say: (doing: string) => void): Promise<void> {
  const { site, keeper } = hands
  if (step.do === 'make') {
    await makers[step.what]({ ...hands, tell: say })
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

async function untilOpen({ world, site, node }: Hands): Promise<void> {
  const administer = administering(node, files(site.dir).cloud)
  const isOpen = async () => {
    const rows = (await administer(['host', 'list'])) as readonly HostRow[]
    const open = rows.some(({ state, enabled, seen }) => state === 'joined' && enabled && seen)
    return open ? true : undefined
  }
  await until(world, OPEN_MS, isOpen, async () => ({
    message: 'the cloud does not see this machine as a host of its own',
    hint: 'a vmd that ran before has to be started again: sudo systemctl restart skerry-vmd; then skerry up; sudo skerry cloud host list tells more',
  }))
}
