import { Fault } from '@skerry/fault'
import type { HostId, VmId } from '@skerry/vm'

import { adoptHost, adoptVm, type Adopting } from '../adopt.ts'
import { maybe, printRows, type Asked, type Command } from '../command.ts'
import { HostLinks } from '../hosts/connect.ts'
import { readIdentity } from '../identity/issuers.ts'
import { isUuid } from '../ids.ts'
import { listStrays } from '../store/strays.ts'
import { withStore } from './with-store.ts'

/** These commands ask hosts themselves, as the cell on whose machine they run. */
const withHosts = <T>(asked: Asked, work: (world: Adopting) => Promise<T>): Promise<T> =>
  withStore(asked, async (db, config) => {
    const { cell, trusted } = await readIdentity(config.identity)
    using links = new HostLinks(db, () => ({ ...cell, ca: trusted.hosts }))
    return await work({ db, connect: (host) => links.of(host) })
  })

function idOf(text: string | undefined, hint: string): string {
  if (text !== undefined && isUuid(text)) return text
  throw new Fault('invalid', `${text ?? ''} is no id`, { hint })
}

const strays: Command = {
  name: 'vm strays',
  words: [],
  options: {},
  summary: 'VMs that hosts have and that belong to nobody here: what can be adopted',
  run: (world, asked) =>
    withStore(asked, async (db) => {
      const rows = (await listStrays(db)).map((each) => ({ ...each }))
      printRows(world, asked, rows, ['vm', 'host', 'hostName', 'found'])
    }),
}

const adopt: Command = {
  name: 'vm adopt',
  words: ['VM'],
  options: { host: 'ID', org: 'NAME', vapp: 'NAME', name: 'NAME' },
  summary:
    'takes a VM that a host has into an organisation, from its deed; or one whose orders its host has lost, from its row',
  run: ({ print }, asked) =>
    withHosts(asked, async (world) => {
      const vm = idOf(asked.words[0], 'skerry cloud vm strays') as VmId
      const [host, org, vapp, name] = (['host', 'org', 'vapp', 'name'] as const).map((option) =>
        maybe(asked, option),
      )
      const made = await adoptVm(world, {
        vm,
        ...(host !== undefined && { host: idOf(host, 'skerry cloud host list') as HostId }),
        ...(org !== undefined && { org }),
        ...(vapp !== undefined && { vapp }),
        ...(name !== undefined && { name }),
      })
      print(
        asked.options['json'] === true
          ? JSON.stringify(made)
          : `VM ${vm} on host ${made.host} is adopted into vApp ${made.vapp}`,
      )
    }),
}

const adoptAHost: Command = {
  name: 'host adopt',
  words: ['HOST'],
  options: {},
  summary:
    'takes a host out of quarantine as it is, although it has forgotten numbers: what it has no more is MISSING',
  run: ({ print }, asked) =>
    withHosts(asked, async (world) => {
      const host = idOf(asked.words[0], 'skerry cloud host list') as HostId
      const missing = await adoptHost(world, host)
      print(
        asked.options['json'] === true
          ? JSON.stringify({ host, missing })
          : `host ${host} is taken as it is; ${missing} of its VMs are missing`,
      )
    }),
}

export const adoption: readonly Command[] = [adoptAHost, strays, adopt]
