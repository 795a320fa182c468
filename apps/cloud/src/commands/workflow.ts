import { existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

import { serverAdmin, type Args } from '@skerry/command-line'
import { copyDurably, writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { listenAddress, type ListenAddress } from '@skerry/service'

import { maybe, needed, runs } from '../command-line/command.ts'
import { databaseIn } from '../command-line/database-in.ts'
import { httpsOrigin } from '../command-line/https-origin.ts'
import { reachable, requireIssuers } from '../command-line/issuing-cell.ts'
import { withStore } from '../command-line/with-store.ts'
import type { CloudConfig } from '../config.ts'
import { identityFiles, makeControl, makeServer, newSealKey } from '../identity/issuers.ts'
import { readCloud } from '../identity/machines.ts'
import { namedBy } from '../identity/renew-cell.ts'
import { keepWorkflowMachine } from '../identity/workflow-machines.ts'

/** The configuration file of apps/workflow. */
interface WorkflowConfig {
  readonly name: string
  /** Public URL; every link starts with it. */
  readonly url: string
  readonly listen: ListenAddress
  /** The listener for cells, which pass on requests of the web UI. */
  readonly machines?: ListenAddress
  /** A separate database; the URL names the owner of its tables. */
  readonly database: string
  readonly temporal: CloudConfig['temporal']
  /** Certificates, and the key that seals secrets. */
  readonly identity: string
  /** Machine APIs of cells: they authenticate users and execute the operations of runs. */
  readonly cells: readonly ListenAddress[]
  /** Cells with issuer keys, which renew its certificate. */
  readonly renewFrom: readonly ListenAddress[]
  /** Organisation of users whose login name has no @organisation. */
  readonly organisation?: string
  /** The socket of the egress proxy: the only way to reach external servers. */
  readonly egress: string
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/
const PORT = 8281
type WorkflowArgs = Args<typeof serverAdmin.createWorkflowServer.options>

export const createWorkflowServer = runs(serverAdmin.createWorkflowServer, (context, requested) =>
  withStore(requested, async (db, config) => {
    const options = readAsked(requested, config, await databaseIn(requested))
    const { id: cloud, epoch } = await readCloud(db)
    const issuers = await requireIssuers(config)
    const host = namedBy(options.url)
    await keepWorkflowMachine(db, { name: options.name, host })
    const out = resolve(needed(requested, 'out'))
    const identity = join(out, 'identity')
    await mkdir(identity, { recursive: true, mode: 0o700 })
    for (const kind of ['control', 'hosts'] as const) {
      const { cert } = identityFiles[kind]
      await copyDurably(join(config.identity, cert), join(identity, cert))
    }
    const { issuing, secret, print } = context
    const name = { cloud, role: 'workflow', id: options.name, epoch } as const
    await writeDurably(join(identity, 'workflow.pem'), await makeControl(issuers, name, issuing))
    const server = await makeServer(issuers, [host], issuing)
    await writeDurably(join(identity, identityFiles.server), server)
    // The database holds data sealed with this key; a new key would make it unreadable.
    const seal = join(identity, identityFiles.seal)
    if (!existsSync(seal)) await writeDurably(seal, newSealKey(secret))
    const egress = join(out, 'egress', 'egress.sock')
    // The egress proxy runs as a separate user, which owns the directory of its socket.
    await mkdir(dirname(egress), { recursive: true, mode: 0o710 })
    const renewFrom = [reachable(config)]
    const made: WorkflowConfig = { ...options, identity, renewFrom, egress }
    await keepEgressList(join(out, 'egress.json'), egress)
    const file = join(out, 'workflow.json')
    await writeDurably(file, `${JSON.stringify(made, null, 2)}\n`)
    print(
      requested.json
        ? JSON.stringify({ workflow: made.name, config: file, url: made.url })
        : `created workflow server ${made.name} at ${made.url}; configuration: ${file}\nnext: copy its directory to the same path on its machine within 7 days, then run: skerry workflow-server --config ${file}`,
    )
  }),
)

function readAsked(
  requested: WorkflowArgs,
  config: CloudConfig,
  database: string,
): Omit<WorkflowConfig, 'identity' | 'renewFrom' | 'egress'> {
  const [name = ''] = requested.words
  if (!NAME.test(name)) {
    throw new Fault(
      'invalid',
      `the name must be like workflow-1, at most 63 characters, not ${name}`,
    )
  }
  const url = httpsOrigin(requested, 'url', 'https://workflow.example:8281')
  if (!/^postgres(ql)?:$/.test(URL.parse(database)?.protocol ?? '')) {
    throw new Fault('invalid', '--database must be like postgres://USER@HOST:5432/workflow')
  }
  if (samePlace(database, config.database)) {
    throw new Fault(
      'invalid',
      '--database must differ from the cloud’s database: workflow has tables of its own',
    )
  }
  const { address, namespace, tls } = config.temporal
  const organisation = maybe(requested, 'organisation')
  const machines = maybe(requested, 'machines')
  return {
    name,
    url: url.origin,
    database,
    listen: listenAddress('--listen', maybe(requested, 'listen') ?? `[::]:${url.port || PORT}`),
    ...(machines !== undefined && { machines: listenAddress('--machines', machines) }),
    temporal: {
      address: maybe(requested, 'temporal') ?? address,
      namespace: maybe(requested, 'namespace') ?? `${namespace}-workflows`,
      // The same TLS settings as the cloud's own Temporal connection.
      ...(tls !== undefined && { tls }),
    },
    cells: cellsIn(maybe(requested, 'cells')) ?? [reachable(config)],
    ...(organisation !== undefined && { organisation }),
  }
}

/** By default the egress proxy allows no destination. An existing file is kept, except for the listen address. */
async function keepEgressList(file: string, listen: string): Promise<void> {
  const before: object = existsSync(file)
    ? (JSON.parse(await readFile(file, 'utf8')) as object)
    : { orgs: {} }
  if ('listen' in before && before.listen === listen) return
  await writeDurably(file, `${JSON.stringify({ ...before, listen }, null, 2)}\n`)
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
