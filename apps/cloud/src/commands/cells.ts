import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { hostAdmin, serverAdmin } from '@skerry/command-line'
import { copyDurably, writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { fingerprintOf, listenAddress } from '@skerry/service'
import { isUuid, type HostId } from '@skerry/vm'

import { maybe, needed, runs } from '../command-line/command.ts'
import { reachable, requireIssuers } from '../command-line/issuing-cell.ts'
import { withStore } from '../command-line/with-store.ts'
import { checkConfig, type CloudConfig } from '../config.ts'
import { addInvitation } from '../identity/invitations.ts'
import {
  identityFiles,
  issuerKinds,
  makeCell,
  makeServer,
  newSealKey,
  readIdentity,
} from '../identity/issuers.ts'
import { raiseEpoch, readCloud } from '../identity/machines.ts'
import { namesOf, renewCell } from '../identity/renew-cell.ts'

export const createCell = runs(serverAdmin.createCell, (context, requested) =>
  withStore(requested, async (db, config) => {
    const out = needed(requested, 'out')
    const identity = join(out, 'identity')
    const issuers = await requireIssuers(config)
    const at = (option: 'listen' | 'machines') => {
      const value = maybe(requested, option)
      return value === undefined ? config[option] : listenAddress(`--${option}`, value)
    }
    const made: CloudConfig = {
      ...config,
      cell: requested.words[0] ?? '',
      identity,
      listen: at('listen'),
      machines: at('machines'),
      ...originalAt(config, maybe(requested, 'original-listen')),
      images: maybe(requested, 'images') ?? config.images,
      renewFrom: [reachable(config)],
    }
    checkConfig(made, 'the configuration')
    const { id: cloud, epoch } = await readCloud(db)
    await mkdir(identity, { recursive: true, mode: 0o700 })
    for (const kind of issuerKinds) {
      const { cert } = identityFiles[kind]
      await copyDurably(join(config.identity, cert), join(identity, cert))
    }
    await copyDurably(
      join(config.identity, identityFiles.seal),
      join(identity, identityFiles.seal),
    ).catch((cause: unknown) => {
      throw new Fault('conflict', 'this cell has no seal key, which encrypts secrets', {
        cause,
        hint: 'run skerry admin init again to create one',
      })
    })
    const { issuing } = context
    const shown = await makeCell(issuers, { cloud, id: made.cell, epoch }, issuing)
    await writeDurably(join(identity, identityFiles.cell), shown)
    const server = await makeServer(issuers, namesOf(config), issuing)
    await writeDurably(join(identity, identityFiles.server), server)
    const file = join(out, 'cloud.json')
    await writeDurably(file, `${JSON.stringify(made, null, 2)}\n`)
    context.print(
      requested.json
        ? JSON.stringify({ cell: made.cell, config: file })
        : `created cell ${made.cell} in ${out}\nnext: copy this directory to the same path on its machine within 7 days, then run: skerry cloud-server --config ${file}`,
    )
  }),
)

/** All cells share one public address of the original API; the listen address may differ per cell. */
function originalAt(
  { original }: CloudConfig,
  value: string | undefined,
): Pick<CloudConfig, 'original'> {
  if (value === undefined) return original ? { original } : {}
  if (original) {
    return { original: { ...original, listen: listenAddress('--original-listen', value) } }
  }
  throw new Fault(
    'invalid',
    '--original-listen needs a cloud with an address for the original API',
    {
      hint: 'set one with: skerry admin init --original https://NAME:PORT',
    },
  )
}

export const revokeCertificates = runs(
  serverAdmin.revokeCertificates,
  ({ issuing, secret, print }, requested) =>
    withStore(requested, async (db, config) => {
      await requireIssuers(config)
      const epoch = await raiseEpoch(db)
      // The seal key is stolen together with a cell. Data sealed with it must be requested again.
      await writeDurably(join(config.identity, identityFiles.seal), newSealKey(secret))
      await renewCell({ config, issuing, epoch: async () => epoch })
      print(
        requested.json
          ? JSON.stringify({ epoch })
          : `only certificates of epoch ${epoch} are accepted from now on\nnext: restart this cell and create every other one again: skerry admin cell create, skerry admin console-server create`,
      )
    }),
)

/** The prefix identifies a join token, and keeps a token from looking like an option on the command line. */
const JOIN_TOKEN = 'skjt_'

export const invite = runs(hostAdmin.invite, ({ secret, print }, requested) =>
  withStore(requested, async (db, config) => {
    const { trusted } = await readIdentity(config.identity)
    const token = `${JOIN_TOKEN}${secret()}`
    const host = maybe(requested, 'host')
    if (host !== undefined && !isUuid(host)) throw new Fault('invalid', `invalid host id: ${host}`)
    await addInvitation(db, token, host as HostId | undefined)
    const { address, port } = reachable(config)
    const cloud = `https://${address.includes(':') ? `[${address}]` : address}:${port}`
    const fingerprint = fingerprintOf(trusted.control)
    const line = `skerry vmd join --cloud ${cloud} --token ${token} --fingerprint ${fingerprint}`
    if (requested.json) print(JSON.stringify({ cloud, token, fingerprint, line }))
    else print(line)
  }),
)
