import { parseArgs } from 'node:util'

import { Fault } from '@skerry/fault'
import { listenAddress } from '@skerry/service'

import type { Invitation, Newcomer } from './join.ts'

export const joinUsage = `usage: skerry vmd join --cloud https://ADDRESS:PORT --token TOKEN --fingerprint SHA256
  --cloud URL             where cells of the cloud listen for machines; may be given several times
  --token TOKEN           from skerry cloud invite: for one machine, for one hour
  --fingerprint SHA256    of the cloud's control issuer; nothing is sent to whoever cannot show it
  --host-api ADDRESS:PORT where cells reach this machine; the address that leads to the cloud, and 8443, unless told
  --name NAME             what people call this machine; its host name unless told`

export interface JoinConfig {
  readonly invitation: Invitation
  readonly machine: Omit<Newcomer, 'directory'>
}

const PORT = 8443

export function readJoinConfig(args: readonly string[], hostname: string): JoinConfig {
  const { cloud = [], token, fingerprint, name = hostname, ...values } = parse(args)
  if (cloud.length === 0 || token === undefined || fingerprint === undefined) {
    throw new Fault('invalid', `--cloud, --token and --fingerprint are needed\n${joinUsage}`)
  }
  if (!/^[0-9a-fA-F]{64}$/.test(fingerprint)) {
    throw new Fault('invalid', '--fingerprint must be the 64 digits that the invitation shows')
  }
  const told = values['host-api']
  const at = told === undefined ? undefined : listenAddress('--host-api', told)
  return {
    invitation: { cells: cloud.map(cellUrl), token, fingerprint },
    machine: { name, address: at?.address, port: at?.port ?? PORT },
  }
}

function cellUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'https:' && url.hostname !== '') return url
  throw new Fault('invalid', `--cloud must be like https://192.0.2.7:8444, not ${text}`)
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        cloud: { type: 'string', multiple: true },
        token: { type: 'string' },
        fingerprint: { type: 'string' },
        'host-api': { type: 'string' },
        name: { type: 'string' },
      },
    }).values
  } catch (cause) {
    throw new Fault('invalid', `${(cause as Error).message}\n${joinUsage}`, { cause })
  }
}
