import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import { temporalFiles } from '@skerry/site'

import { command, type World } from '../command.ts'
import { exitCodes, Failure } from '../failure.ts'
import { keepFile } from '../keep-file.ts'
import { bringUp, DIRECTORY_MODE, type Brought } from '../up/bring-up.ts'
import { postgresPrograms, requireMachine } from '../up/check.ts'
import { isThere, keepSettled, readSettled } from '../up/keep.ts'
import { holdSite } from '../up/only-one.ts'
import { freePorts } from '../up/ports.ts'
import { findProcess } from '../up/processes.ts'
import { differences, settle, type Asked, type Settled } from '../up/settled.ts'
import { DIRECTORY, files, siteOf, type Site } from '../up/site.ts'
import { stopSite } from '../up/stop-site.ts'
import { sayOf, tellOf } from '../up/told.ts'

const WATCH_EVERY_MS = 2000

export const up = command({
  name: 'up',
  asks: 'nobody',
  usage: '',
  summary:
    'a cloud on this machine alone: PostgreSQL, Temporal, cloud, console, workflows and vmd, as root; again, it goes on where it was',
  examples: [
    'sudo skerry up',
    'sudo skerry up --systemd',
    'sudo skerry up --base https://cloud.example --console https://console.example --machines 192.0.2.7:8444',
  ],
  next: 'log in at the address that it prints; skerry down stops all of it',
  options: {
    dir: { type: 'string', value: 'DIR', doc: `where all of it is kept; ${DIRECTORY} unless told` },
    foreground: { type: 'boolean', doc: 'stay, start again what dies, and stop all at Ctrl-C' },
    systemd: { type: 'boolean', doc: 'as units that start with the machine' },
    base: { type: 'string', value: 'URL', doc: 'where clients reach the cloud' },
    console: { type: 'string', value: 'URL', doc: 'where browsers reach screens: another host' },
    workflow: { type: 'string', value: 'URL', doc: 'where clients reach the workflow server' },
    machines: {
      type: 'string',
      value: 'ADDRESS:PORT',
      doc: 'where more hosts may join; nobody but this machine unless told',
    },
    database: {
      type: 'string',
      value: 'URL',
      doc: 'a database that is there, for the cloud; with --workflow-database',
    },
    'workflow-database': { type: 'string', value: 'URL', doc: 'one for workflows' },
    temporal: {
      type: 'string',
      value: 'ADDRESS:PORT',
      doc: 'a Temporal that runs; one is built with Go and started unless told',
    },
    template: {
      type: 'string',
      value: 'FILE',
      doc: 'an image to make the template of; Debian 12 is built unless told',
    },
  },
  async run(world, { options, json }) {
    const { dir: told = DIRECTORY, foreground, template } = options
    const asked = readAsked(options)
    await requireMachine(world, asked.database === undefined || asked.temporal === undefined)
    if (template !== undefined && !(await isThere(template))) {
      throw new Failure('usage', `there is no image ${template}`, { hint: 'skerry up --help' })
    }
    const dir = resolve(told)
    await using _ = await holdSite(dir)
    const settled = await settleOnce(world, dir, asked)
    const node = process.execPath
    const site = siteOf(dir, settled, node)
    const how = { image: template === undefined ? undefined : resolve(template), node }
    await tellOnce(world, site, await bringUp(world, site, how), json)
    if (foreground === true) await watch(world, site, how)
    return exitCodes.done
  },
})

function readAsked(options: {
  readonly [name: string]: string | boolean | readonly string[] | undefined
}): Asked {
  const { database, 'workflow-database': workflowDatabase } = options
  if ((database === undefined) !== (workflowDatabase === undefined)) {
    throw new Failure('usage', '--database and --workflow-database are told together', {
      hint: 'two databases of one PostgreSQL, both empty',
    })
  }
  const given = { ...options, workflowDatabase }
  const names = [
    ...(['base', 'console', 'workflow', 'machines'] as const),
    ...(['database', 'workflowDatabase', 'temporal'] as const),
  ]
  for (const name of ['base', 'console', 'workflow'] as const) {
    const url = options[name]
    if (url !== undefined && URL.parse(String(url))?.protocol !== 'https:') {
      throw new Failure('usage', `--${name} must be like https://cloud.example, not ${String(url)}`)
    }
  }
  const said = names.flatMap((name) => {
    const value = given[name as keyof typeof given]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  return { ...Object.fromEntries(said), ...(options['systemd'] === true && { systemd: true }) }
}

async function settleOnce(world: World, dir: string, asked: Asked): Promise<Settled> {
  const kept = await readSettled(dir)
  if (kept) {
    const other = differences(asked, kept.asked)
    if (other.length === 0) return newest(world, dir, kept)
    throw new Failure('refused', `${other.join(', ')}: ${dir} was made otherwise`, {
      hint: 'without these words it is brought up as it is; skerry down --forget begins anew',
    })
  }
  if (asked.systemd && !(await isThere('/run/systemd/system'))) {
    throw new Failure('refused', 'systemd does not run this machine', {
      hint: 'skerry up, or skerry up --foreground',
    })
  }
  const { server, sql } = temporalFiles(world.cache)
  const bin = (await postgresPrograms()) ?? ''
  const settled = settle(asked, { ports: await freePorts(), programs: { server, sql }, bin })
  await mkdir(dir, { recursive: true, mode: DIRECTORY_MODE })
  await keepSettled(dir, settled)
  return settled
}

/** After an upgrade another version of Temporal is started, once the one before it was stopped. */
async function newest({ cache }: World, dir: string, kept: Settled): Promise<Settled> {
  const { programs } = kept.temporal
  const { server, sql } = temporalFiles(cache)
  const version = (file: string) => basename(dirname(file))
  if (!programs || version(programs.server) === version(server)) return kept
  const running = siteOf(dir, kept, process.execPath).servers.find(
    ({ name }) => name === 'temporal',
  )
  if (running && (await findProcess(dir, running)) !== undefined) return kept
  const settled = { ...kept, temporal: { ...kept.temporal, programs: { server, sql } } }
  await keepSettled(dir, settled)
  return settled
}

/** The password is shown by the first one that comes to its end. */
async function tellOnce(
  world: World,
  site: Site,
  { keeper, passwords }: Brought,
  json: boolean,
): Promise<void> {
  const { ca, told: shown } = files(site.dir)
  // Its directory is closed because of the keys beside it; this one is for everybody.
  await copyFile(join(site.dir, 'cloud', 'identity', 'ca.pem'), ca)
  await chmod(ca, 0o644)
  const told = await tellOf(site, keeper, passwords)
  world.print(json ? JSON.stringify(told, null, 2) : sayOf(told, !(await isThere(shown))))
  await keepFile(shown, '')
}

/** Until the person has seen enough: then all of it is stopped. */
async function watch(
  world: World,
  site: Site,
  how: { readonly image: string | undefined; readonly node: string },
): Promise<void> {
  const over = world.told().then(() => true)
  const passes = async () => world.wait(WATCH_EVERY_MS).then(() => false)
  world.complain('all of it runs; Ctrl-C stops it')
  while (!(await Promise.race([passes(), over]))) {
    await bringUp(world, site, { ...how, quiet: true })
  }
  for (const title of await stopSite(world, site)) world.complain(`stopped ${title}`)
}
