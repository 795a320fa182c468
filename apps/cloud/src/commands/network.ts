import { mkdir } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'

import { serverAdmin, type Args } from '@skerry/command-line'
import { writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { listenAddress, type ListenAddress } from '@skerry/service'

import { maybe, needed, runs } from '../command-line/command.ts'
import { requireIssuers } from '../command-line/issuing-cell.ts'
import { makeLogin } from '../command-line/make-login.ts'
import { withStore } from '../command-line/with-store.ts'
import { readCloud } from '../identity/machines.ts'
import { ensureNetworkIssuers, makeNetworkServer } from '../identity/network-issuers.ts'

/** The configuration file of apps/network. */
interface NetworkConfig {
  readonly name: string
  readonly listen: ListenAddress
  /** The address that hosts connect to. */
  readonly remote: string
  readonly database: string
  /** The directory of OVN's databases. */
  readonly data: string
  readonly tls: { readonly key: string; readonly certificate: string; readonly ca: string }
}

/** The database login is a prefix and this name; PostgreSQL limits it to 63 characters. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,29}$/
/** The port of OVN's southbound database. */
const PORT = 6642
/** The state directory of its unit. */
const DATA = '/var/lib/skerry-network'
type NetworkArgs = Args<typeof serverAdmin.createNetworkServer.options>

export const createNetworkServer = runs(serverAdmin.createNetworkServer, (context, requested) =>
  withStore(requested, async (db, config) => {
    const { name, host, listen } = readAsked(requested)
    const { id: cloud } = await readCloud(db)
    await requireIssuers(config)
    const { issuing, print } = context
    const issuers = await ensureNetworkIssuers(config.identity, cloud, issuing)
    const login = { name: `skerry_network_${cloud.slice(0, 8)}_${name}`, role: 'skerry_network' }
    const database = await makeLogin(context, {
      url: config.database,
      login,
      at: maybe(requested, 'database'),
    })
    const out = resolve(needed(requested, 'out'))
    const identity = join(out, 'identity')
    await mkdir(identity, { recursive: true, mode: 0o700 })
    const { key, cert } = await makeNetworkServer(issuers, { name, host }, issuing)
    const tls = {
      key: join(identity, 'network.key'),
      certificate: join(identity, 'network.pem'),
      ca: join(identity, 'overlay.pem'),
    }
    await writeDurably(tls.ca, issuers.overlay.cert)
    await writeDurably(tls.key, key)
    await writeDurably(tls.certificate, cert)
    const made: NetworkConfig = {
      name,
      listen,
      remote: `ssl:${isIP(host) === 6 ? `[${host}]` : host}:${listen.port}`,
      database,
      data: resolve(maybe(requested, 'data') ?? DATA),
      tls,
    }
    const file = join(out, 'network.json')
    await writeDurably(file, `${JSON.stringify(made, null, 2)}\n`)
    print(
      requested.json
        ? JSON.stringify({ network: name, config: file, remote: made.remote })
        : `created network server ${name} at ${made.remote}; configuration: ${file}\nnext: copy its directory to the same path on its machine, then run: skerry network-server --config ${file}`,
    )
  }),
)

function readAsked(requested: NetworkArgs) {
  const [name = ''] = requested.words
  if (!NAME.test(name)) {
    throw new Fault(
      'invalid',
      `the name must be like network-1, at most 30 characters, not ${name}`,
    )
  }
  const host = needed(requested, 'host')
  // OVN resolves names only if it was built with a resolver.
  if (isIP(host) === 0) {
    throw new Fault('invalid', `--host must be an address like 192.0.2.7, not ${host}`)
  }
  const any = isIP(host) === 6 ? `[${host}]` : host
  const listen = listenAddress('--listen', maybe(requested, 'listen') ?? `${any}:${PORT}`)
  return { name, host, listen }
}
