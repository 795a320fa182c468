import { existsSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { Fault } from '@skerry/fault'
import { listenAddress, writeDurably, type ListenAddress } from '@skerry/service'

import { maybe, needed, type Asked, type Command } from '../command.ts'
import type { Config } from '../config.ts'
import { identityFiles, makeControl, makeServer, newSealKey } from '../identity/issuers.ts'
import { namedBy } from '../identity/renew-cell.ts'
import { readCloud } from '../store/machines.ts'
import { keepWorkflowMachine } from '../store/workflow-machines.ts'
import { databaseIn, databaseOptions } from './database-in.ts'
import { reachable, requireIssuers } from './issuing-cell.ts'
import { withStore } from './with-store.ts'

/** What apps/workflow reads. */
interface WorkflowConfig {
  readonly name: string
  /** Where clients reach it: it stands in every link. */
  readonly url: string
  readonly listen: ListenAddress
  /** A database of its own, with whoever owns its tables. */
  readonly database: string
  readonly temporal: { readonly address: string; readonly namespace: string }
  /** Certificates, and the key by which it seals what is secret. */
  readonly identity: string
  /** Machines' doors of cells: there it asks who somebody is, and does what runs do. */
  readonly cells: readonly ListenAddress[]
  /** Cells that may issue: its certificate is renewed by them. */
  readonly renewFrom: readonly ListenAddress[]
  /** The socket of the egress: the only way out to other people's servers. */
  readonly egress: string
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/
const PORT = 8281

export const makeWorkflow: Command = {
  name: 'workflow',
  words: [],
  options: {
    name: 'NAME',
    out: 'DIR',
    url: 'https://HOST:PORT',
    listen: 'ADDRESS:PORT',
    ...databaseOptions,
    temporal: 'ADDRESS:PORT',
    namespace: 'NAME',
    cells: 'ADDRESS:PORT,…',
  },
  summary:
    'issues certificates and configuration of a workflow server, on a machine that has the issuers; again by the same name, new ones',
  run: (world, asked) =>
    withStore(asked, async (db, config) => {
      const told = readAsked(asked, config, await databaseIn(asked))
      const { id: cloud, epoch } = await readCloud(db)
      const issuers = await requireIssuers(config)
      const host = namedBy(told.url)
      await keepWorkflowMachine(db, { name: told.name, host })
      const out = resolve(needed(asked, 'out'))
      const identity = join(out, 'identity')
      await mkdir(identity, { recursive: true, mode: 0o700 })
      for (const kind of ['control', 'hosts'] as const) {
        const { cert } = identityFiles[kind]
        await copyFile(join(config.identity, cert), join(identity, cert))
      }
      const { issuing, secret, print } = world
      const name = { cloud, role: 'workflow', id: told.name, epoch } as const
      await writeDurably(join(identity, 'workflow.pem'), await makeControl(issuers, name, issuing))
      const server = await makeServer(issuers, [host], issuing)
      await writeDurably(join(identity, identityFiles.server), server)
      // What was sealed with it is in the database: another one would make that unreadable.
      const seal = join(identity, identityFiles.seal)
      if (!existsSync(seal)) await writeDurably(seal, newSealKey(secret))
      const egress = join(out, 'egress.sock')
      const renewFrom = [reachable(config)]
      const made: WorkflowConfig = { ...told, identity, renewFrom, egress }
      // Nobody may be called until somebody says so, here; what was said stays.
      const list = join(out, 'egress.json')
      if (!existsSync(list))
        await writeDurably(list, `${JSON.stringify({ listen: egress, orgs: {} }, null, 2)}\n`)
      const file = join(out, 'workflow.json')
      await writeDurably(file, `${JSON.stringify(made, null, 2)}\n`)
      print(
        asked.options['json'] === true
          ? JSON.stringify({ workflow: made.name, config: file, url: made.url })
          : `the workflow server ${made.name} at ${made.url} is made; its configuration is ${file}\nnext: bring it to its machine, to the same place, within 7 days, then: skerry workflow-server --config ${file}`,
      )
    }),
}

function readAsked(
  asked: Asked,
  config: Config,
  database: string,
): Omit<WorkflowConfig, 'identity' | 'renewFrom' | 'egress'> {
  const name = needed(asked, 'name')
  if (!NAME.test(name)) {
    throw new Fault('invalid', `--name must be like workflow-1, of at most 63 letters, not ${name}`)
  }
  const said = needed(asked, 'url')
  const url = URL.parse(said)
  if (url?.protocol !== 'https:' || url.origin !== said.replace(/\/$/, '')) {
    throw new Fault('invalid', `--url must be like https://workflow.example:8281, not ${said}`)
  }
  if (!/^postgres(ql)?:$/.test(URL.parse(database)?.protocol ?? '')) {
    throw new Fault('invalid', '--database must be like postgres://USER@HOST:5432/workflow')
  }
  if (samePlace(database, config.database)) {
    throw new Fault(
      'invalid',
      '--database must be another than the cloud’s: it has tables of its own',
    )
  }
  const { address, namespace } = config.temporal
  return {
    ...{ name, url: url.origin, database },
    listen: listenAddress('--listen', maybe(asked, 'listen') ?? `[::]:${url.port || PORT}`),
    temporal: {
      address: maybe(asked, 'temporal') ?? address,
      namespace: maybe(asked, 'namespace') ?? `${namespace}-workflows`,
    },
    cells: cellsIn(maybe(asked, 'cells')) ?? [reachable(config)],
  }
}

const cellsIn = (text: string | undefined): readonly ListenAddress[] | undefined =>
  text?.split(',').map((each) => listenAddress('--cells', each))

function samePlace(one: string, other: string): boolean {
  const place = (url: string) => {
    const { host, pathname } = new URL(url)
    return `${host}${pathname}`
  }
  return place(one) === place(other)
}
