/** The limits of one listener for its clients. Times are milliseconds. */
export interface ListenerBounds {
  /** For a TLS handshake. */
  readonly handshakeMs: number
  /** For the head of a request, from the start of the connection. */
  readonly headMs: number
  /** For a request with its body. */
  readonly bodyMs: number
  /** Some routes stream their bodies: these may take long, with at most `UPLOAD_IDLE_MS` between two chunks. */
  readonly streams?: true
  /** Between two requests of one connection. */
  readonly keepAliveMs: number
  /** Open at once. */
  readonly connections: number
  /** Unauthenticated connections of one network. */
  readonly unauthenticated: number
}

/** How long the sender of a streamed body may be silent. */
export const UPLOAD_IDLE_MS = 60_000

/** Longer than balancers keep an idle connection (60 s is common): the balancer closes first, so no request hits a closed connection. */
const BEHIND_BALANCER_MS = 72_000

const common = { handshakeMs: 5000, headMs: 10_000, bodyMs: 30_000 } as const

/** Every listener and its limits. */
export const listenerBounds = {
  /** A cell's API, in each dialect. */
  api: {
    ...common,
    streams: true,
    keepAliveMs: BEHIND_BALANCER_MS,
    connections: 20_000,
    unauthenticated: 512,
  },
  /** A cell's listener for hosts, consoles and workflow servers. */
  machines: {
    ...common,
    streams: true,
    keepAliveMs: BEHIND_BALANCER_MS,
    connections: 10_000,
    unauthenticated: 512,
  },
  workflow: {
    ...common,
    keepAliveMs: BEHIND_BALANCER_MS,
    connections: 10_000,
    unauthenticated: 512,
  },
  console: {
    ...common,
    headMs: 5000,
    bodyMs: 5000,
    keepAliveMs: 5000,
    connections: 10_000,
    unauthenticated: 1024,
  },
  egress: { ...common, keepAliveMs: 5000, connections: 1000, unauthenticated: 1000 },
  /** Health and metrics of a server, for the operator's monitoring. */
  health: {
    ...common,
    headMs: 5000,
    bodyMs: 5000,
    keepAliveMs: 72_000,
    connections: 64,
    unauthenticated: 32,
  },
  /** A host's listener for cells and consoles. Keep-alive exceeds the ping interval: a handshake costs more than an open connection. */
  host: { ...common, keepAliveMs: 60_000, connections: 4000, unauthenticated: 256 },
  /** A host's listener for its own users. */
  local: { ...common, keepAliveMs: BEHIND_BALANCER_MS, connections: 4000, unauthenticated: 1024 },
} as const satisfies Readonly<Record<string, ListenerBounds>>
