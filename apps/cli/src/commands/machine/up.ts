import { chmod, copyFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

import { writeDurably } from '@skerry/durable-file'

import { command, type CliContext } from '../../command.ts'
import { exitCodes, Failure } from '../../terminal/failure.ts'
import { holdSite } from '../../terminal/only-one.ts'
import { bringUp, makeSiteDirectory, type Brought, type How } from '../../up/bring-up.ts'
import { hasOvn, postgresPrograms, requireMachine, temporalPrograms } from '../../up/check.ts'
import { findProcess } from '../../up/servers/processes.ts'
import { stopSite } from '../../up/servers/stop-site.ts'
import { sayOf, summarizeSite } from '../../up/site-summary.ts'
import { isThere, keepSettled, readSettled } from '../../up/site/keep.ts'
import { freePorts } from '../../up/site/ports.ts'
import {
  differences,
  settle,
  withNetwork,
  type Programs,
  type SiteOptions,
  type SitePlan,
} from '../../up/site/site-plan.ts'
import { DIRECTORY, files, siteOf, type Site } from '../../up/site/site.ts'

const WATCH_EVERY_MS = 2000

export const up = command({
  name: 'up',
  asks: 'none',
  usage: '',
  summary:
    'create and start a cloud on this machine: PostgreSQL, Temporal, cloud, console, workflows and vmd; needs root; run it again to resume',
  examples: [
    'sudo skerry up',
    'sudo skerry up --systemd',
    'sudo skerry up --base https://cloud.example --console https://console.example --machines 192.0.2.7:8444',
  ],
  next: 'run the skerry login command that it prints; skerry down stops all servers',
  options: {
    dir: { type: 'string', value: 'DIR', doc: `directory of the site (default: ${DIRECTORY})` },
    foreground: {
      type: 'boolean',
      doc: 'stay in the foreground, restart servers that die, stop all at Ctrl-C',
    },
    systemd: { type: 'boolean', doc: 'run the servers as systemd units, which start at boot' },
    base: { type: 'string', value: 'URL', doc: 'public URL of the cloud' },
    console: {
      type: 'string',
      value: 'URL',
      doc: 'public URL of the console, on another host name than the cloud',
    },
    workflow: { type: 'string', value: 'URL', doc: 'public URL of the workflow server' },
    machines: {
      type: 'string',
      value: 'ADDRESS:PORT',
      doc: 'address where other hosts join (default: only this machine can)',
    },
    database: {
      type: 'string',
      value: 'URL',
      doc: 'existing PostgreSQL database for the cloud; requires --workflow-database',
    },
    'workflow-database': {
      type: 'string',
      value: 'URL',
      doc: 'existing PostgreSQL database for workflows',
    },
    temporal: {
      type: 'string',
      value: 'ADDRESS:PORT',
      doc: 'existing Temporal server (default: start one; a clone builds it first, with Go)',
    },
    'temporal-files': {
      type: 'string',
      value: 'CA,CERTIFICATE,KEY',
      doc: 'TLS files for that Temporal server (default: certificates issued by the cloud)',
    },
    'temporal-plain': { type: 'boolean', doc: 'connect to that Temporal server without TLS' },
    template: {
      type: 'string',
      value: 'FILE',
      doc: 'disk image of the template (default: build Debian 12)',
    },
  },
  async run(context, { options, json }) {
    // This process and the servers it starts write keys and passwords.
    process.umask(0o077)
    const { dir: directory = DIRECTORY, foreground, template } = options
    const requested = readAsked(options)
    await requireMachine(
      context,
      requested.database === undefined || requested.temporal === undefined,
    )
    if (template !== undefined && !(await isThere(template))) {
      throw new Failure('usage', `there is no image ${template}`, { hint: 'skerry up --help' })
    }
    const dir = resolve(directory)
    await using _ = await holdSite(dir)
    const settled = await settleOnce(context, dir, requested)
    const node = process.execPath
    const site = siteOf(dir, settled, node)
    const how = { image: template === undefined ? undefined : resolve(template), node }
    const brought = await bringUp(context, site, how)
    await tellOnce(context, site, brought, json)
    if (foreground === true) await watch(context, site, { ...how, keeper: brought.keeper })
    return exitCodes.done
  },
})

function readAsked(options: {
  readonly [name: string]: string | boolean | readonly string[] | undefined
}): SiteOptions {
  const { database, 'workflow-database': workflowDatabase } = options
  if ((database === undefined) !== (workflowDatabase === undefined)) {
    throw new Failure('usage', '--database and --workflow-database must be given together', {
      hint: 'use two empty databases of one PostgreSQL server',
    })
  }
  const { 'temporal-files': temporalFiles, 'temporal-plain': temporalPlain } = options
  if (options['temporal'] === undefined && (temporalFiles !== undefined || temporalPlain)) {
    throw new Failure('usage', '--temporal-files and --temporal-plain require --temporal', {
      hint: 'the Temporal server that skerry up starts has its own certificates',
    })
  }
  const given = { ...options, workflowDatabase, temporalFiles }
  const names = [
    ...(['base', 'console', 'workflow', 'machines'] as const),
    ...(['database', 'workflowDatabase', 'temporal', 'temporalFiles'] as const),
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
  return {
    ...Object.fromEntries(said),
    ...(temporalPlain === true && { temporalPlain: true }),
    ...(options['systemd'] === true && { systemd: true }),
  }
}

async function settleOnce(
  context: CliContext,
  dir: string,
  requested: SiteOptions,
): Promise<SitePlan> {
  const kept = await readSettled(dir)
  if (kept) {
    const other = differences(requested, kept.requested)
    if (other.length === 0) return newest(context, dir, kept)
    throw new Failure('refused', `${other.join(', ')}: differs from the existing site in ${dir}`, {
      hint: 'omit the option to start the existing site, or run skerry down --forget to start from scratch',
    })
  }
  if (requested.systemd && !(await isThere('/run/systemd/system'))) {
    throw new Failure('refused', 'systemd is not running on this machine', {
      hint: 'run skerry up or skerry up --foreground instead',
    })
  }
  const programs = await temporalPrograms(context.cache)
  const bin = (await postgresPrograms()) ?? ''
  const settled = settle(requested, {
    ports: await freePorts(),
    programs,
    bin,
    ovn: await hasOvn(),
  })
  await makeSiteDirectory(dir)
  await keepSettled(dir, settled)
  return settled
}

/** The plan with what was installed since. */
async function newest(context: CliContext, dir: string, kept: SitePlan): Promise<SitePlan> {
  const networked = (await hasOvn()) ? withNetwork(kept, await freePorts()) : kept
  const settled = await withNewTemporal(context, dir, networked)
  if (settled !== kept) await keepSettled(dir, settled)
  return settled
}

/** After an upgrade the new version of Temporal is used, and that of the Debian package if it is installed, once the old one has stopped. */
async function withNewTemporal(
  { cache }: CliContext,
  dir: string,
  kept: SitePlan,
): Promise<SitePlan> {
  const { programs: before } = kept.temporal
  const programs = await temporalPrograms(cache)
  const version = ({ server }: Programs) => basename(dirname(server))
  if (!before || version(before) === version(programs)) return kept
  const running = siteOf(dir, kept, process.execPath).servers.find(
    ({ name }) => name === 'temporal',
  )
  if (running && (await findProcess(dir, running)) !== undefined) return kept
  return { ...kept, temporal: { ...kept.temporal, programs } }
}

/** Prints the summary. Only the first successful run shows the password. */
async function tellOnce(
  context: CliContext,
  site: Site,
  { keeper, passwords }: Brought,
  json: boolean,
): Promise<void> {
  const { ca, summary: shown } = files(site.dir)
  // The identity directory is private because of its keys; this copy of the certificate is world-readable.
  await copyFile(join(site.dir, 'cloud', 'identity', 'ca.pem'), ca)
  await chmod(ca, 0o644)
  const summary = await summarizeSite(site, keeper, passwords)
  context.print(json ? JSON.stringify(summary, null, 2) : sayOf(summary, !(await isThere(shown))))
  await writeDurably(shown, '')
}

/** Restarts servers until Ctrl-C, then stops all of them. */
async function watch(context: CliContext, site: Site, how: How): Promise<void> {
  const over = context.interrupted().then(() => true)
  const passes = async () => context.wait(WATCH_EVERY_MS).then(() => false)
  context.complain('all servers are running; Ctrl-C stops them')
  while (!(await Promise.race([passes(), over]))) {
    await bringUp(context, site, { ...how, quiet: true })
  }
  for (const title of await stopSite(context, site)) context.complain(`stopped ${title}`)
}
