import type { MachineRole } from '@skerry/host-api'

import type { IssuerKind } from '../identity/issuers.ts'

/** Whose word counts for a role: an issuer that is trusted may still not name every machine. */
export const issuerOf: Readonly<Record<MachineRole, Extract<IssuerKind, 'control' | 'hosts'>>> = {
  cell: 'control',
  console: 'control',
  workflow: 'control',
  host: 'hosts',
}

/** Every call of the machines' door, and who may make it. A machine that joins has no certificate yet. */
export const machineCalls = {
  join: { method: 'POST', path: /^\/machine\/v1\/join$/, roles: 'anyone' },
  renew: {
    ...{ method: 'POST', path: /^\/machine\/v1\/renew$/ },
    roles: ['host', 'cell', 'console', 'workflow'],
  },
  image: {
    ...{ method: 'GET', path: /^\/machine\/v1\/images\/(?<digest>[0-9a-f]{64})$/ },
    roles: ['host'],
  },
  checkCredentials: {
    ...{ method: 'POST', path: /^\/machine\/v1\/credentials$/ },
    roles: ['workflow'],
  },
  readStamp: {
    ...{ method: 'GET', path: /^\/machine\/v1\/accounts\/stamp$/ },
    roles: ['workflow'],
  },
  addGrant: { method: 'POST', path: /^\/machine\/v1\/grants$/, roles: ['workflow'] },
  removeGrant: {
    ...{
      method: 'DELETE',
      path: /^\/machine\/v1\/grants\/(?<grant>[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/,
    },
    roles: ['workflow'],
  },
  /** The tenants' API, in the name of who started a run. */
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
