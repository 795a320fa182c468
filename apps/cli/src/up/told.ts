// What a person, a program and a profile of the command line need to know of a site that is up.
import type { Passwords } from './keep.ts'
import type { Keeper } from './keeper.ts'
import { files, names, type Site } from './site.ts'

export interface Told {
  readonly dir: string
  readonly cloud: string
  /** The certificate of who signed all of its servers. */
  readonly ca: string
  /** What comes before `?` and a ticket. */
  readonly console: string
  readonly workflow: string
  /** USER@ORG. */
  readonly user: string
  readonly password: string
  readonly administrator: string
  /** The file that holds all passwords, which only root reads. */
  readonly passwords: string
  readonly template: string
  readonly servers: readonly {
    readonly name: string
    readonly pid: number | undefined
    readonly log: string
  }[]
}

export async function tellOf(site: Site, keeper: Keeper, passwords: Passwords): Promise<Told> {
  const { base, console: screens, workflow } = site.settled
  const at = files(site.dir)
  const servers = []
  for (const server of site.servers) {
    const { name, log } = server
    servers.push({ name, pid: await keeper.running(server), log })
  }
  return {
    ...{ dir: site.dir, cloud: base, ca: at.ca },
    ...{ console: `${screens}/console`, workflow, user: `${names.user}@${names.org}` },
    ...{ password: passwords.owner, administrator: 'administrator@System' },
    ...{ passwords: at.passwords, template: names.template, servers },
  }
}

/** `first`: whether the password is told, which is done once. */
export function sayOf(told: Told, first: boolean): string {
  const password = first
    ? `${told.password}   (shown only now; it is in ${told.passwords}, for root)`
    : `in ${told.passwords}, for root`
  return [
    `the cloud answers at   ${told.cloud}`,
    `its certificate        ${told.ca}`,
    `log in as              ${told.user}`,
    `password               ${password}`,
    `screens of VMs         ${told.console}`,
    `workflows              ${told.workflow}`,
    `template               ${told.template}`,
    `next: skerry login ${names.org} ${told.cloud} --user ${told.user} --ca ${told.ca} --workflow ${told.workflow}`,
    'then skerry create, list and all others are for this cloud; skerry use local goes back to vmd alone',
    'skerry down stops all of it; guests and data stay, and skerry up goes on with them',
  ].join('\n')
}
