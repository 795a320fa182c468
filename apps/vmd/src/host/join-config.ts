import { Fault } from '@skerry/fault'
import { listenAddress, readOptions } from '@skerry/service'

import type { Invitation, Newcomer } from './join.ts'

export const joinUsage = `usage: skerry vmd join --cloud https://ADDRESS:PORT --token TOKEN --fingerprint SHA256
  --cloud URL             URL of a cell for machines; repeatable
  --token TOKEN           invitation token from skerry admin host invite: for one machine, valid for one hour
  --fingerprint SHA256    fingerprint of the cloud's control issuer; nothing is sent to a server without it
  --host-api ADDRESS:PORT where cells reach this machine (default: its address towards the cloud, port 8443)
  --name NAME             display name of this machine (default: its host name)`

export interface JoinConfig {
  readonly invitation: Invitation
  readonly machine: Omit<Newcomer, 'directory'>
}

const PORT = 8443

const options = {
  cloud: { type: 'string', multiple: true },
  token: { type: 'string' },
  fingerprint: { type: 'string' },
  'host-api': { type: 'string' },
  name: { type: 'string' },
} as const

export function readJoinConfig(args: readonly string[], hostname: string): JoinConfig {
  const {
    cloud = [],
    token,
    fingerprint,
    name = hostname,
    ...values
  } = readOptions(args, joinUsage, options)
  if (cloud.length === 0 || token === undefined || fingerprint === undefined) {
    throw new Fault('invalid', `--cloud, --token and --fingerprint are required\n${joinUsage}`)
  }
  if (!/^[0-9a-fA-F]{64}$/.test(fingerprint)) {
    throw new Fault('invalid', '--fingerprint must be the 64 hexadecimal digits of the invitation')
  }
  const hostApi = values['host-api']
  const at = hostApi === undefined ? undefined : listenAddress('--host-api', hostApi)
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
