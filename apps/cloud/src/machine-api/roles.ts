import type { MachineRole } from '@skerry/host-api'
import { UUID } from '@skerry/vm'

import type { IssuerKind } from '../identity/issuers.ts'

/** The issuer of each role: a trusted issuer may still not name every kind of machine. */
export const issuerOf: Readonly<Record<MachineRole, Extract<IssuerKind, 'control' | 'hosts'>>> = {
  cell: 'control',
  console: 'control',
  workflow: 'control',
  host: 'hosts',
}

/** All calls of the machine API, and the roles that may make them. A joining machine has no certificate yet. */
export const machineCalls = {
  join: { method: 'POST', path: /^\/machine\/v1\/join$/, roles: 'anyone' },
  renew: {
    method: 'POST',
    path: /^\/machine\/v1\/renew$/,
    roles: ['host', 'cell', 'console', 'workflow'],
  },
  /** A host's certificate for OVN's database. */
  overlay: { method: 'POST', path: /^\/machine\/v1\/overlay$/, roles: ['host'] },
  image: {
    method: 'GET',
    path: /^\/machine\/v1\/images\/(?<digest>[0-9a-f]{64})$/,
    roles: ['host'],
  },
  checkCredentials: {
    method: 'POST',
    path: /^\/machine\/v1\/credentials$/,
    roles: ['workflow'],
  },
  checkSession: {
    method: 'POST',
    path: /^\/machine\/v1\/sessions$/,
    roles: ['workflow'],
  },
  readStamp: {
    method: 'GET',
    path: /^\/machine\/v1\/accounts\/stamp$/,
    roles: ['workflow'],
  },
  addGrant: { method: 'POST', path: /^\/machine\/v1\/grants$/, roles: ['workflow'] },
  removeGrant: {
    method: 'DELETE',
    path: new RegExp(`^/machine/v1/grants/(?<grant>${UUID})$`),
    roles: ['workflow'],
  },
  /** The tenant API, on behalf of the user who started a run. */
  api: { method: 'any', path: /^\/api(\/|$)/, roles: ['workflow'] },
} as const satisfies Record<
  string,
  {
    readonly method: 'GET' | 'POST' | 'DELETE' | 'any'
    readonly path: RegExp
    readonly roles: 'anyone' | readonly MachineRole[]
  }
>
export type MachineCall = keyof typeof machineCalls
