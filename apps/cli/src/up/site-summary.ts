import type { Keeper } from './servers/keeper.ts'
// The summary of a running site, for users, scripts and CLI profiles.
import type { Passwords } from './site/keep.ts'
import { files, names, type Site } from './site/site.ts'

export interface SiteSummary {
  readonly dir: string
  readonly cloud: string
  /** The CA certificate of all its servers. */
  readonly ca: string
  /** URL of the console page, without `?` and a ticket. */
  readonly console: string
  readonly workflow: string
  /** USER@ORG. */
  readonly user: string
  readonly password: string
  readonly administrator: string
  /** The file with all passwords, readable only by root. */
  readonly passwords: string
  readonly template: string
  /** Why there is no network server, if it is not that OVN is missing. */
  readonly noNetwork?: string
  readonly servers: readonly {
    readonly name: string
    readonly pid: number | undefined
    readonly log: string
  }[]
}

export async function summarizeSite(
  site: Site,
  keeper: Keeper,
  passwords: Passwords,
): Promise<SiteSummary> {
  const { base, console: screens, workflow, noNetwork } = site.settled
  const at = files(site.dir)
  const servers = []
  for (const server of site.servers) {
    const { name, log } = server
    servers.push({ name, pid: await keeper.running(server), log })
  }
  return {
    dir: site.dir,
    cloud: base,
    ca: at.ca,
    console: `${screens}/console`,
    workflow,
    user: `${names.user}@${names.org}`,
    password: passwords.owner,
    administrator: 'administrator@System',
    passwords: at.passwords,
    template: names.template,
    ...(noNetwork !== undefined && { noNetwork }),
    servers,
  }
}

/** `first`: whether to show the password, which is done only once. */
export function sayOf(summary: SiteSummary, first: boolean): string {
  const password = first
    ? `${summary.password}   (shown only once; root finds it in ${summary.passwords})`
    : `in ${summary.passwords} (root only)`
  return [
    `cloud                  ${summary.cloud}`,
    `CA certificate         ${summary.ca}`,
    `log in as              ${summary.user}`,
    `password               ${password}`,
    `console                ${summary.console}`,
    `workflows              ${summary.workflow}`,
    `template               ${summary.template}`,
    ...(summary.noNetwork === undefined
      ? []
      : [`network server         none: ${summary.noNetwork}`]),
    `next: skerry login ${names.org} ${summary.cloud} --user ${summary.user} --ca ${summary.ca} --workflow ${summary.workflow}`,
    'then skerry create, list and all other commands use this cloud; skerry use local switches back to vmd',
    'skerry down stops the servers; guests and data stay, and skerry up starts the servers again',
  ].join('\n')
}
