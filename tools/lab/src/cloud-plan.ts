// Where everything of a lab's cloud is: its directories and its ports. Settled once, before anything is started.
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { SWITCH_ADDRESS } from './netns.ts'
import { freePorts } from './ports.ts'
import { TEMPORAL_PORTS } from './temporal-config.ts'

/** The address at which hosts reach the cells. */
const MACHINES = SWITCH_ADDRESS.replace(/\/.*/, '')

export interface CellPlan {
  readonly name: string
  /** Its configuration, its certificates and its log. */
  readonly dir: string
  readonly config: string
  /** Its own, beside the balancer's. */
  readonly url: string
  readonly port: number
  /** Where hosts come in. */
  readonly machines: { readonly address: string; readonly port: number }
}

export interface CloudPlan {
  readonly dir: string
  readonly ports: {
    readonly postgres: number
    /** The first of a row. */
    readonly temporal: number
    readonly balancer: number
  }
  readonly url: string
  readonly cells: readonly CellPlan[]
  readonly images: string
}

/** Directories in a lab that hold its cloud. */
export const CLOUD_DIRECTORIES = /^(cloud|images|postgres|temporal|balancer|window|cell-\d+)$/

/** The plan of a lab's cloud as it was settled, or undefined where there is none. */
export async function readPlan(lab: string): Promise<CloudPlan | undefined> {
  const file = planFile(lab)
  if (!existsSync(file)) return undefined
  const { first, cells } = JSON.parse(await readFile(file, 'utf8')) as Record<string, number>
  return planOf(lab, first ?? 0, cells ?? 0)
}

/** Settles where a cloud of so many cells will be; what was settled before stays. */
export async function settlePlan(lab: string, cells: number): Promise<CloudPlan> {
  const settled = await readPlan(lab)
  if (settled !== undefined && settled.cells.length >= cells) return settled
  if (settled !== undefined) {
    throw new Error(
      `the lab in ${lab} has ${settled.cells.length} cells, not ${cells}: take it down and start again`,
    )
  }
  await mkdir(join(lab, 'cloud'), { recursive: true })
  const first = await freePorts(TEMPORAL_PORTS + 2 + 2 * cells)
  await writeFile(planFile(lab), JSON.stringify({ first, cells }))
  return planOf(lab, first, cells)
}

/** One row of ports, so that no two servers are given the same. */
function planOf(lab: string, first: number, count: number): CloudPlan {
  const ports = {
    temporal: first,
    postgres: first + TEMPORAL_PORTS,
    balancer: first + TEMPORAL_PORTS + 1,
  }
  const cells = Array.from({ length: count }, (_, at): CellPlan => {
    const name = `cell-${at + 1}`
    const dir = join(lab, name)
    const port = ports.balancer + 1 + at
    return {
      ...{ name, dir, config: join(dir, 'cloud.json'), url: `https://127.0.0.1:${port}`, port },
      machines: { address: MACHINES, port: port + count },
    }
  })
  const url = `https://127.0.0.1:${ports.balancer}`
  return { dir: join(lab, 'cloud'), ports, url, cells, images: join(lab, 'images') }
}

const planFile = (lab: string): string => join(lab, 'cloud', 'plan.json')
