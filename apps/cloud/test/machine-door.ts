// The machines' door of one cell of a test's own cloud.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Identity } from '@skerry/host-api'
import { makeKey, publicKeyOf } from '@skerry/service'
import type { Kysely } from 'kysely'

import {
  ensureIssuers,
  identityFiles,
  issueControl,
  issueHost,
  makeCell,
  makeServer,
  readIdentity,
  type CellIdentity,
  type Issuing,
} from '../src/identity/issuers.ts'
import type { ForWorkflows } from '../src/machine/for-workflows.ts'
import { openMachineDoor } from '../src/machine/server.ts'
import type { Database } from '../src/store/database.ts'
import { readCloud } from '../src/store/machines.ts'

export const issuing: Issuing = {
  clock: { now: () => new Date() },
  serial: () => `01${randomBytes(15).toString('hex')}`,
}

export interface TestDoor extends AsyncDisposable {
  readonly identity: CellIdentity
  readonly images: string
  readonly port: number
  readonly log: string[]
}

/** What a machine of this cloud shows, which is a cell, a console or a workflow server. */
export async function identityOf(
  { identity: { issuers, name, trusted } }: TestDoor,
  role: 'cell' | 'console' | 'workflow' | 'host',
  id: string,
): Promise<Identity> {
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

export async function openTestDoor(
  db: Kysely<Database>,
  { cloud, epoch = 1, forWorkflows }: TestDoorOptions = {},
): Promise<TestDoor> {
  const directory = await mkdtemp(join(tmpdir(), 'skerry-door-'))
  const id = cloud ?? (await readCloud(db)).id
  const issuers = await ensureIssuers(directory, id, issuing)
  const cell = await makeCell(issuers, { cloud: id, id: 'cell-1', epoch }, issuing)
  await writeFile(join(directory, identityFiles.cell), cell)
  const server = await makeServer(issuers, ['127.0.0.1'], issuing)
  await writeFile(join(directory, identityFiles.server), server)
  const identity = await readIdentity(directory)
  const log: string[] = []
  const door = openMachineDoor({
    ...{ db, identity: () => identity, issuing, images: directory },
    log: (message) => log.push(message),
    forWorkflows: () => forWorkflows,
  })
  door.server.listen(0, '127.0.0.1')
  await once(door.server, 'listening')
  return {
    ...{ identity, images: directory, log },
    port: (door.server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
