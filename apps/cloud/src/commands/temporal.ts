import { mkdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { serverAdmin } from '@skerry/command-line'
import { writeDurably } from '@skerry/durable-file'

import { needed, runs } from '../command-line/command.ts'
import { requireIssuers } from '../command-line/issuing-cell.ts'
import { configFile } from '../command-line/with-store.ts'
import { readConfig } from '../config.ts'
import { identityFiles, makeTemporal as issue } from '../identity/issuers.ts'

/** Files that the configuration of the Temporal server refers to. */
const files = { certificate: 'temporal.pem', key: 'temporal.key', clients: 'clients.pem' } as const

export const createTemporalServer = runs(
  serverAdmin.createTemporalServer,
  async ({ issuing, print }, requested) => {
    const config = await readConfig(configFile(requested))
    const issuers = await requireIssuers(config)
    const out = resolve(needed(requested, 'out'))
    await mkdir(out, { recursive: true, mode: 0o700 })
    const { key, cert } = await issue(issuers, issuing)
    const clients = await readFile(join(config.identity, identityFiles.control.cert), 'utf8')
    await writeDurably(join(out, files.clients), clients)
    await writeDurably(join(out, files.key), key)
    await writeDurably(join(out, files.certificate), cert)
    print(
      requested.json
        ? JSON.stringify({ out, ...files })
        : `created the certificates of Temporal in ${out}: ${Object.values(files).join(', ')}\nnext: copy them to its machine and set them in global.tls of its configuration: docs/guides/own-machines.md`,
    )
  },
)
