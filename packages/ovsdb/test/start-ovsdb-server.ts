import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { freePorts } from '../../../tools/lab/src/network/ports.ts'
import { Ovsdb } from '../src/index.ts'

const PROGRAM = '/usr/sbin/ovsdb-server'
const START_TIMEOUT_MS = 60_000

export const needsOvsdbServer = existsSync(PROGRAM)
  ? false
  : 'needs ovsdb-server (openvswitch-switch): npm run setup'

const textColumn = { type: 'string' }
const textMap = { type: { key: 'string', value: 'string', min: 0, max: 'unlimited' } }
const references = (refTable: string) => ({
  type: { key: { type: 'uuid', refTable }, min: 0, max: 'unlimited' },
})

/** A database with one of each: a unique name, references, a set, a map. Its listeners are rows, as in OVN. */
const SCHEMA = {
  name: 'Test',
  version: '1.0.0',
  tables: {
    Config: { columns: { listeners: references('Listener') }, isRoot: true, maxRows: 1 },
    Listener: {
      columns: {
        target: textColumn,
        inactivity_probe: { type: { key: 'integer', min: 0, max: 1 } },
      },
    },
    Host: {
      columns: {
        name: textColumn,
        count: { type: 'integer' },
        labels: { type: { key: 'string', min: 0, max: 'unlimited' } },
        options: textMap,
        ports: references('Port'),
      },
      indexes: [['name']],
      isRoot: true,
    },
    Port: { columns: { name: textColumn } },
  },
}

export interface OvsdbServer extends AsyncDisposable {
  /** Its Unix socket. */
  readonly path: string
  /** A free port, for a listener that the test asks for. */
  readonly port: number
  readonly directory: string
  readonly process: ChildProcess
}

/** The server's certificate: its key and certificate, and the issuer of its clients. PEM texts. */
interface ServerCertificate {
  readonly key: string
  readonly cert: string
  readonly ca: string
}

/** A separate ovsdb-server for the test, in its own directory, with an empty database. Default schema: `Test`. */
export async function startOvsdbServer(
  options: { readonly certificate?: ServerCertificate; readonly schema?: string } = {},
): Promise<OvsdbServer> {
  const directory = await mkdtemp(join(tmpdir(), 'ovsdb-test-'))
  const at = (name: string) => join(directory, name)
  await writeFile(at('schema'), JSON.stringify(SCHEMA))
  const create = ['create', at('db'), options.schema ?? at('schema')]
  await promisify(execFile)('/usr/bin/ovsdb-tool', create)
  const port = await freePorts()
  const args = [at('db'), `--remote=punix:${at('sock')}`, `--unixctl=${at('ctl')}`]
  args.push('--no-chdir', '-vconsole:off', '-vsyslog:off')
  if (options.schema === undefined) args.push('--remote=db:Test,Config,listeners')
  if (options.certificate !== undefined) {
    const { key, cert, ca } = options.certificate
    for (const [name, text] of Object.entries({ key, cert, ca })) {
      await writeFile(at(name), text, { mode: 0o600 })
    }
    args.push(`--remote=pssl:${port}:127.0.0.1`, `--private-key=${at('key')}`)
    args.push(`--certificate=${at('cert')}`, `--ca-cert=${at('ca')}`)
  }
  const server = spawn(PROGRAM, args, { stdio: 'ignore' })
  const exited = once(server, 'exit')
  const path = at('sock')
  const deadline = performance.now() + START_TIMEOUT_MS
  while (!(await answers(path))) {
    if (server.exitCode !== null) throw new Error(`ovsdb-server ended with ${server.exitCode}`)
    if (performance.now() > deadline) throw new Error(`ovsdb-server did not open ${path} in time`)
    await sleep(10)
  }
  return {
    path,
    port,
    directory,
    process: server,
    async [Symbol.asyncDispose]() {
      server.kill('SIGKILL')
      await exited
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function answers(path: string): Promise<boolean> {
  try {
    await using _ = await Ovsdb.open({ path })
    return true
  } catch {
    return false
  }
}
