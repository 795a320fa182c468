// The fixed plan of a site, decided once before anything is created: addresses, ports and programs.
import { isIP } from 'node:net'

/** A cloud with all its servers on this one machine. */
export interface SitePlan {
  /** The options given at creation, so that a different value later is rejected, not ignored. */
  readonly requested: SiteOptions
  /** Public URLs of the cloud, its console and its workflow server. */
  readonly base: string
  readonly console: string
  readonly workflow: string
  /** Listeners for joining hosts and for this host's API, as ADDRESS:PORT. */
  readonly machines: string
  readonly hostApi: string
  /** The workflow server's listener for the cell. Absent in a site of an older version. */
  readonly workflowMachines?: string
  /** The network server's listener for hosts. Absent while OVN is not installed, and if hosts could not reach it. */
  readonly network?: string
  /** Why a site with OVN has no network server. */
  readonly noNetwork?: string
  /** Absent if the databases and Temporal are both external. */
  readonly postgres?: { readonly port: number; readonly bin: string }
  /** External databases (default: our own PostgreSQL). */
  readonly databases?: { readonly cloud: string; readonly workflow: string }
  readonly temporal: { readonly address: string; readonly programs?: Programs }
}

export interface Programs {
  readonly server: string
  readonly sql: string
}

export interface SiteOptions {
  readonly base?: string
  readonly console?: string
  readonly workflow?: string
  readonly machines?: string
  readonly database?: string
  readonly workflowDatabase?: string
  readonly temporal?: string
  /** How to connect to an external Temporal: with these TLS files, or without TLS. Default: with the machine's own certificate. */
  readonly temporalFiles?: string
  readonly temporalPlain?: true
  readonly systemd?: true
}

/** Preferred ports; if one is in use, the next free one above it. */
export const wantedPorts = {
  cloud: 9443,
  console: 9444,
  machines: 8444,
  hostApi: 8443,
  workflow: 8281,
  workflowMachines: 8282,
  network: 6642,
  temporal: 7233,
  postgres: 7250,
} as const
export type Ports = Readonly<Record<keyof typeof wantedPorts, number>>

/** Browsers separate cookies by host, not by port, so the console has another address than the cloud. */
const CLOUD_ADDRESS = '127.0.0.1'
const CONSOLE_ADDRESS = '127.0.0.2'

export interface SiteMachine {
  readonly ports: Ports
  readonly programs: Programs
  /** Directory of PostgreSQL's programs. */
  readonly bin: string
  /** Whether the programs of OVN are installed. */
  readonly ovn: boolean
}

export function settle(
  requested: SiteOptions,
  { ports, programs, bin, ovn }: SiteMachine,
): SitePlan {
  const { database, workflowDatabase, temporal } = requested
  const databases =
    database === undefined || workflowDatabase === undefined
      ? undefined
      : { cloud: database, workflow: workflowDatabase }
  const isOurs = databases === undefined || temporal === undefined
  const machines = requested.machines ?? `${CLOUD_ADDRESS}:${ports.machines}`
  return {
    requested,
    base: requested.base ?? `https://${CLOUD_ADDRESS}:${ports.cloud}`,
    console: requested.console ?? `https://${CONSOLE_ADDRESS}:${ports.console}`,
    workflow: requested.workflow ?? `https://${CLOUD_ADDRESS}:${ports.workflow}`,
    machines,
    workflowMachines: `${CLOUD_ADDRESS}:${ports.workflowMachines}`,
    hostApi: `${CLOUD_ADDRESS}:${ports.hostApi}`,
    ...(ovn && networkAt(machines, ports.network)),
    ...(isOurs && { postgres: { port: ports.postgres, bin } }),
    ...(databases && { databases }),
    temporal:
      temporal === undefined
        ? { address: `127.0.0.1:${ports.temporal}`, programs }
        : { address: temporal },
  }
}

/** An existing site gets a network server once OVN is installed. */
export function withNetwork(plan: SitePlan, { network }: Pick<Ports, 'network'>): SitePlan {
  const isDecided = plan.network !== undefined || plan.noNetwork !== undefined
  return isDecided ? plan : { ...plan, ...networkAt(plan.machines, network) }
}

/** The given options that differ from the existing site; omitted options do not count. */
export const differences = (requested: SiteOptions, settled: SiteOptions): readonly string[] =>
  Object.entries(requested)
    .filter(([name, value]) => value !== settled[name as keyof SiteOptions])
    .map(([name]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`)

/** The listen address for a public URL: an IP address itself, or the wildcard address for a host name. */
export function listenFor(url: string): string {
  const { hostname, port } = new URL(url)
  const isNumbers = /^[0-9.]+$|^\[/.test(hostname)
  return `${isNumbers ? hostname : '[::]'}:${port === '' ? '443' : port}`
}

/** Hosts reach the network server at the address at which they reach the cell; it must be one address. */
function networkAt(machines: string, port: number): Pick<SitePlan, 'network' | 'noNetwork'> {
  const address = machines.slice(0, machines.lastIndexOf(':'))
  if (isIP(address) === 4 && address !== '0.0.0.0') return { network: `${address}:${port}` }
  return {
    noNetwork: `hosts could not find it at ${address}; create one with skerry admin network-server create and an IPv4 address of this machine`,
  }
}
