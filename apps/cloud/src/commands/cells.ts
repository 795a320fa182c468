import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { fingerprintOf, listenAddress, writeDurably } from '@skerry/service'
import type { HostId } from '@skerry/vm'

import { maybe, needed, type Command } from '../command.ts'
import { checkConfig, type Config } from '../config.ts'
import {
  identityFiles,
  issuerKinds,
  makeCell,
  makeServer,
  newSealKey,
  readIdentity,
} from '../identity/issuers.ts'
import { namesOf, renewCell } from '../identity/renew-cell.ts'
import { isUuid } from '../ids.ts'
import { addInvitation } from '../store/invitations.ts'
import { raiseEpoch, readCloud } from '../store/machines.ts'
import { reachable, requireIssuers } from './issuing-cell.ts'
import { withStore } from './with-store.ts'

export const cell: Command = {
  name: 'cell',
  words: [],
  options: {
    name: 'NAME',
    out: 'DIR',
    listen: 'ADDRESS:PORT',
    machines: 'ADDRESS:PORT',
    'original-listen': 'ADDRESS:PORT',
    images: 'DIR',
  },
  summary:
    'issues certificate and configuration of another cell, on a machine that has the issuers',
  run: (world, asked) =>
    withStore(asked, async (db, config) => {
      const out = needed(asked, 'out')
      const identity = join(out, 'identity')
      const issuers = await requireIssuers(config)
      const at = (option: 'listen' | 'machines') => {
        const told = maybe(asked, option)
        return told === undefined ? config[option] : listenAddress(`--${option}`, told)
      }
      const made: Config = {
        ...{ ...config, cell: needed(asked, 'name'), identity },
        ...{ listen: at('listen'), machines: at('machines') },
        ...originalAt(config, maybe(asked, 'original-listen')),
        images: maybe(asked, 'images') ?? config.images,
        renewFrom: [reachable(config)],
      }
      checkConfig(made, 'the configuration')
      const { id: cloud, epoch } = await readCloud(db)
      await mkdir(identity, { recursive: true, mode: 0o700 })
      for (const kind of issuerKinds) {
        const { cert } = identityFiles[kind]
        await copyFile(join(config.identity, cert), join(identity, cert))
      }
      await copyFile(
        join(config.identity, identityFiles.seal),
        join(identity, identityFiles.seal),
      ).catch((cause: unknown) => {
        throw new Fault('conflict', 'this cell has no key to seal secrets with', {
          cause,
          hint: 'skerry cloud init, run again, makes one',
        })
      })
      const { issuing } = world
      const shown = await makeCell(issuers, { cloud, id: made.cell, epoch }, issuing)
      await writeDurably(join(identity, identityFiles.cell), shown)
      const server = await makeServer(issuers, namesOf(config), issuing)
      await writeDurably(join(identity, identityFiles.server), server)
      const file = join(out, 'cloud.json')
      await writeDurably(file, `${JSON.stringify(made, null, 2)}\n`)
      world.print(
        asked.options['json'] === true
          ? JSON.stringify({ cell: made.cell, config: file })
          : `the cell ${made.cell} is in ${out}\nnext: bring it to its machine, to the same place, within 7 days, then: skerry cloud serve --config ${file}`,
      )
    }),
}

/** Its public address is the same for all cells; where each listens may differ. */
function originalAt({ original }: Config, told: string | undefined): Pick<Config, 'original'> {
  if (told === undefined) return original ? { original } : {}
  if (original) {
    return { original: { ...original, listen: listenAddress('--original-listen', told) } }
  }
  throw new Fault('invalid', '--original-listen goes with a cloud that has such an address', {
    hint: 'skerry cloud init --original https://NAME:PORT gives it one',
  })
}

export const recall: Command = {
  name: 'recall',
  words: [],
  options: {},
  summary:
    'makes all certificates of cells and consoles count no longer but this cell’s new one; for when one was taken',
  run: ({ issuing, secret, print }, asked) =>
    withStore(asked, async (db, config) => {
      await requireIssuers(config)
      const epoch = await raiseEpoch(db)
      // Whoever took a cell has this as well. What is sealed by now is asked for anew.
      await writeDurably(join(config.identity, identityFiles.seal), newSealKey(secret))
      await renewCell({ config, issuing, epoch: async () => epoch })
      print(
        asked.options['json'] === true
          ? JSON.stringify({ epoch })
          : `certificates must be of epoch ${epoch} from now on\nnext: start this cell again, and issue every other one anew: skerry cloud cell, skerry cloud console`,
      )
    }),
}

/** By this one sees what it is; and it never begins as an option of the line that it stands in. */
const JOIN_TOKEN = 'skjt_'

export const invite: Command = {
  name: 'invite',
  words: [],
  options: { host: 'ID' },
  summary:
    'prints the line to run on a machine that is to be a host; good for one machine and one hour',
  run: ({ secret, print }, asked) =>
    withStore(asked, async (db, config) => {
      const { trusted } = await readIdentity(config.identity)
      const token = `${JOIN_TOKEN}${secret()}`
      const host = maybe(asked, 'host')
      if (host !== undefined && !isUuid(host)) throw new Fault('invalid', `${host} is no host`)
      await addInvitation(db, token, host as HostId | undefined)
      const { address, port } = reachable(config)
      const cloud = `https://${address.includes(':') ? `[${address}]` : address}:${port}`
      const fingerprint = fingerprintOf(trusted.control)
      const line = `skerry vmd join --cloud ${cloud} --token ${token} --fingerprint ${fingerprint}`
      if (asked.options['json'] === true) print(JSON.stringify({ cloud, token, fingerprint, line }))
      else print(line)
    }),
}
