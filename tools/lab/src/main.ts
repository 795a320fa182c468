// npm run -s lab -- up|status|down|power-cut|power-on --dir D: a lab from the command line. Prints one JSON object.
import { parseArgs } from 'node:util'

import type { LabReport } from './lab.ts'
import { down, powerCut, powerOn, status, up } from './lab.ts'

const USAGE = `usage: npm run -s lab -- COMMAND --dir D
  up [--hosts N]     start N hosts (default: 1) and return when all of them respond
     [--vmd]         with vmd on each of them
     [--network]     with Open vSwitch and OVN's controller on each of them, and a second card in a network that is outside of the cloud
     [--cells M]     with PostgreSQL, Temporal, M cells behind a balancer, and the hosts joined to that cloud
     [--console]     with two consoles behind one address, which show the screens of that cloud's VMs; needs --cells
     [--original]    with a second address for the original API of that cloud; needs --cells
     [--workflow]    with a workflow server at https://127.0.0.1:8281 and its egress; needs --cells
  status             print what is running
  power-cut NAME     kill every process on the host at once; its disks stay
  power-on NAME      start the host again
  down               remove every trace of the lab`

const LATER = ['s3'] as const
const UP_ONLY = ['hosts', 'vmd', 'network', 'cells', 'console', 'original', 'workflow'] as const
const MOST_HOSTS = 200
const MOST_CELLS = 20

/** Invalid command line; nothing was done. */
class Misuse extends Error {}

try {
  console.log(JSON.stringify(await obey(process.argv.slice(2)), null, 2))
} catch (error) {
  console.error(`lab: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = error instanceof Misuse ? 2 : 1
}

async function obey(args: string[]): Promise<LabReport> {
  const { values, positionals } = read(args)
  const [command, name, ...more] = positionals
  const requested = LATER.find((part) => values[part] !== undefined)
  if (requested !== undefined) {
    throw new Misuse(
      `--${requested} is not supported: this lab has only hosts, vmd, cells, consoles and workflow servers; omit it`,
    )
  }
  const { dir } = values
  if (dir === undefined || dir === '') throw new Misuse(`--dir is missing\n${USAGE}`)
  const named = command === 'power-cut' || command === 'power-on'
  if (more.length > 0 || (name !== undefined) !== named) {
    throw new Misuse(named ? `name one host\n${USAGE}` : `too many arguments\n${USAGE}`)
  }
  const wished = UP_ONLY.find((part) => values[part] !== undefined)
  if (wished !== undefined && command !== 'up') {
    throw new Misuse(`--${wished} is valid with "up" only`)
  }
  if (values.console === true && values.cells === undefined) {
    throw new Misuse('--console requires --cells: a console shows the screens of a cloud')
  }
  if (values.original === true && values.cells === undefined) {
    throw new Misuse('--original requires --cells: it is a second address of a cloud')
  }
  if (values.workflow === true && values.cells === undefined) {
    throw new Misuse('--workflow requires --cells: its workflows drive a cloud')
  }
  switch (command) {
    case 'up':
      return up(dir, countOf('hosts', values.hosts ?? '1', MOST_HOSTS), {
        vmd: values.vmd ?? false,
        network: values.network ?? false,
        console: values.console ?? false,
        workflows: values.workflow === true ? 1 : 0,
        original: values.original ?? false,
        ...(values.cells !== undefined && { cells: countOf('cells', values.cells, MOST_CELLS) }),
      })
    case 'status':
      return status(dir)
    case 'down':
      return down(dir)
    case 'power-cut':
      return powerCut(dir, name ?? '')
    case 'power-on':
      return powerOn(dir, name ?? '')
    case undefined:
      throw new Misuse(USAGE)
    default:
      throw new Misuse(`unknown command: ${command}\n${USAGE}`)
  }
}

function read(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        dir: { type: 'string' },
        hosts: { type: 'string' },
        vmd: { type: 'boolean' },
        network: { type: 'boolean' },
        cells: { type: 'string' },
        console: { type: 'boolean' },
        original: { type: 'boolean' },
        workflow: { type: 'boolean' },
        s3: { type: 'boolean' },
      },
    })
  } catch (error) {
    throw new Misuse(`${(error as Error).message}\n${USAGE}`, { cause: error })
  }
}

function countOf(option: string, text: string, most: number): number {
  const count = Number(text)
  if (Number.isInteger(count) && count >= 1 && count <= most) return count
  throw new Misuse(`--${option} must be a number from 1 to ${most}, not "${text}"`)
}
