// What is settled about a site once, before anything of it is made: where everything will be.

/** A cloud with all its servers on this one machine. */
export interface Settled {
  /** What the person said, so that another word later is refused and not overheard. */
  readonly asked: Asked
  /** Public addresses: the cloud, its console, its workflow server. */
  readonly base: string
  readonly console: string
  readonly workflow: string
  /** Where hosts come in, as ADDRESS:PORT, and where this host answers. */
  readonly machines: string
  readonly hostApi: string
  /** Absent where both databases and Temporal are somebody else's. */
  readonly postgres?: { readonly port: number; readonly bin: string }
  /** Somebody else's; ours unless told. */
  readonly databases?: { readonly cloud: string; readonly workflow: string }
  readonly temporal: { readonly address: string; readonly programs?: Programs }
}

export interface Programs {
  readonly server: string
  readonly sql: string
}

export interface Asked {
  readonly base?: string
  readonly console?: string
  readonly workflow?: string
  readonly machines?: string
  readonly database?: string
  readonly workflowDatabase?: string
  readonly temporal?: string
  readonly systemd?: true
}

/** The ports that are taken where they are free; the next free one above where they are not. */
export const wantedPorts = {
  cloud: 9443,
  console: 9444,
  machines: 8444,
  hostApi: 8443,
  workflow: 8281,
  temporal: 7233,
  postgres: 7250,
} as const
export type Ports = Readonly<Record<keyof typeof wantedPorts, number>>

/** Browsers keep cookies by host and not by port, so that the console is at another one than the cloud. */
const CLOUD_ADDRESS = '127.0.0.1'
const CONSOLE_ADDRESS = '127.0.0.2'

export interface Machine {
  readonly ports: Ports
  readonly programs: Programs
  /** Where PostgreSQL's programs are. */
  readonly bin: string
}

export function settle(asked: Asked, { ports, programs, bin }: Machine): Settled {
  const { database, workflowDatabase, temporal } = asked
  const databases =
    database === undefined || workflowDatabase === undefined
      ? undefined
      : { cloud: database, workflow: workflowDatabase }
  const isOurs = databases === undefined || temporal === undefined
  return {
    asked,
    base: asked.base ?? `https://${CLOUD_ADDRESS}:${ports.cloud}`,
    console: asked.console ?? `https://${CONSOLE_ADDRESS}:${ports.console}`,
    workflow: asked.workflow ?? `https://${CLOUD_ADDRESS}:${ports.workflow}`,
    machines: asked.machines ?? `${CLOUD_ADDRESS}:${ports.machines}`,
    hostApi: `${CLOUD_ADDRESS}:${ports.hostApi}`,
    ...(isOurs && { postgres: { port: ports.postgres, bin } }),
    ...(databases && { databases }),
    temporal:
      temporal === undefined
        ? { address: `127.0.0.1:${ports.temporal}`, programs }
        : { address: temporal },
  }
}

/** The options by which a line differs from what was settled; what it does not name stays as it is. */
export const differences = (asked: Asked, settled: Asked): readonly string[] =>
  Object.entries(asked)
    .filter(([name, value]) => value !== settled[name as keyof Asked])
    .map(([name]) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`)

/** Where a server listens that answers at this address: there, where it is one of numbers; everywhere, where it is a name. */
export function listenFor(url: string): string {
  const { hostname, port } = new URL(url)
  const isNumbers = /^[0-9.]+$|^\[/.test(hostname)
  return `${isNumbers ? hostname : '[::]'}:${port === '' ? '443' : port}`
}
