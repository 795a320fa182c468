// The machine API of one cell, for a test with its own cloud.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { MachineIdentity } from '@skerry/host-api'
import { makeKey, publicKeyOf } from '@skerry/service'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import {
  ensureIssuers,
  identityFiles,
  issueControl,
  issueHost,
  makeCell,
  makeServer,
  readIdentity,
  type CellIdentity,
  type IssueContext,
} from '../src/identity/issuers.ts'
import { readCloud } from '../src/identity/machines.ts'
import { readNetworkIssuers } from '../src/identity/network-issuers.ts'
import type { ForWorkflows } from '../src/machine-api/context.ts'
import { openMachineListener } from '../src/machine-api/server.ts'

export const issuing: IssueContext = {
  clock: { now: () => new Date() },
  serial: () => `01${randomBytes(15).toString('hex')}`,
}

export interface TestMachineApi extends AsyncDisposable {
  readonly identity: CellIdentity
  readonly images: string
  readonly port: number
  readonly log: string[]
}

/** The certificate of a machine of this cloud: a cell, a console or a workflow server. */
export async function identityOf(
  { identity: { issuers, name, trusted } }: TestMachineApi,
  role: 'cell' | 'console' | 'workflow' | 'host',
  id: string,
): Promise<MachineIdentity> {
  assert(issuers)
  const key = await makeKey()
  const named = { cloud: name.cloud, id }
  const cert =
    role === 'host'
      ? await issueHost(issuers, named, publicKeyOf(key), issuing)
      : await issueControl(issuers, { ...named, role, epoch: 1 }, publicKeyOf(key), issuing)
  return { key, cert, ca: trusted.control }
}

interface TestDoorOptions {
  readonly cloud?: string
  readonly epoch?: number
  readonly forWorkflows?: ForWorkflows
}

export async function openTestMachineApi(
  db: Kysely<CloudTables>,
  { cloud, epoch = 1, forWorkflows }: TestDoorOptions = {},
): Promise<TestMachineApi> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-door-'))
  const id = cloud ?? (await readCloud(db)).id
  const issuers = await ensureIssuers(directory, id, issuing)
  const cell = await makeCell(issuers, { cloud: id, id: 'cell-1', epoch }, issuing)
  await writeFile(join(directory, identityFiles.cell), cell)
  const server = await makeServer(issuers, ['127.0.0.1'], issuing)
  await writeFile(join(directory, identityFiles.server), server)
  const identity = await readIdentity(directory)
  const log: string[] = []
  const api = openMachineListener({
    db,
    identity: () => identity,
    issuing,
    networkIssuers: () => readNetworkIssuers(directory),
    images: directory,
    log: (message) => log.push(message),
    forWorkflows: () => forWorkflows,
  })
  api.server.listen(0, '127.0.0.1')
  await once(api.server, 'listening')
  return {
    identity,
    images: directory,
    log,
    port: (api.server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      await api[Symbol.asyncDispose]()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
