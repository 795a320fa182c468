import type { HostUplink } from '@skerry/engine'
import { Fault } from '@skerry/fault'
import { listenAddress, readOptions } from '@skerry/service'
import { whyNotBridge } from '@skerry/vm'

import { restores, stopWays, type Restore, type StopWay } from './guests/autostart.ts'

const SHUTDOWN_SECONDS_MAX = 3600

/** All settings of the operator. */
export interface VmdConfig {
  readonly port: number
  readonly libvirt: { readonly socket: string; readonly uri: string }
  /** The file with the token that every request must carry, if one is required. */
  readonly tokenFile: string | undefined
  /** An additional Unix socket, for users who may write to this file. */
  readonly unixSocket: string | undefined
  /** The user who started vmd with sudo; that user, root and members of the group may send requests. */
  readonly sudoUid: number | undefined
  /** The bridges of this machine that VMs may join on request. */
  readonly bridges: readonly string[]
  /** The networks of the site that networks of the cloud may lead to. */
  readonly uplinks: readonly HostUplink[]
  /** Whether guests may reach the metadata addresses of the machine's provider. */
  readonly metadata: boolean
  /** Which VMs start again after a reboot. */
  readonly restore: Restore
  /** What happens to the guests when vmd is stopped. */
  readonly onStop: StopWay | 'leave'
  /** The listen address for the cloud's cells, once this machine has joined a cloud. */
  readonly hostApi: { readonly address: string; readonly port: number }
  /** How long a guest may take to shut itself down. */
  readonly shutdownTimeoutMs: number
  /** Client mode: ask the running vmd to stop its guests this way. */
  readonly stopGuests: StopWay | undefined
}

export const usage = `usage: skerry vmd [--port N] [--libvirt-socket PATH] [--token-file PATH] [--unix-socket PATH]
  --port N                port on 127.0.0.1 and [::1] (default: 8080)
  --libvirt-socket PATH   libvirt's socket (default: /run/libvirt/libvirt-sock)
  --token-file PATH       require the token in this file (mode 0600) with every request: Authorization: Bearer TOKEN
  --unix-socket PATH      also listen here, for root and the group skerry; folders cannot be shared through this socket
  --bridge NAME           allow VMs to join this bridge of the machine, outside vmd's firewall; repeatable
  --uplink NAME=DEVICE    connect networks of the cloud to the site by this card or bridge of Open vSwitch; repeatable
  --allow-metadata        let guests reach the metadata addresses of the machine's provider (169.254.0.0/16, 100.100.100.200, fd00:ec2::254); default: rejected
  --restore WHICH         VMs to start after a reboot: autostart (those set to, and those that vmd stopped; the default) or previous (all that ran)
  --on-stop WAY           what to do with guests when vmd stops: leave (keep them running; the default), suspend or shutdown
  --host-api ADDRESS:PORT  listen address for the cloud's cells, once this machine has joined a cloud (default: [::]:8443)
  --shutdown-timeout S    seconds a guest may take to shut itself down (default: 60)
  --stop-guests WAY       ask the running vmd to suspend or shutdown all guests, e.g. before the machine shuts down

skerry vmd join makes this machine a host of a cloud; skerry admin host invite prints the command to run`

const options = {
  port: { type: 'string', default: '8080' },
  'token-file': { type: 'string' },
  'unix-socket': { type: 'string' },
  bridge: { type: 'string', multiple: true },
  uplink: { type: 'string', multiple: true },
  'allow-metadata': { type: 'boolean', default: false },
  restore: { type: 'string', default: 'autostart' },
  'on-stop': { type: 'string', default: 'leave' },
  'shutdown-timeout': { type: 'string', default: '60' },
  'stop-guests': { type: 'string' },
  'host-api': { type: 'string', default: '[::]:8443' },
  'libvirt-socket': { type: 'string', default: '/run/libvirt/libvirt-sock' },
} as const

export function readConfig(args: readonly string[], environment: NodeJS.ProcessEnv): VmdConfig {
  const values = readOptions(args, usage, options)
  const sudo = Number(environment['SUDO_UID'])
  return {
    port: numberOf('--port', values.port, 65_535),
    libvirt: { socket: values['libvirt-socket'], uri: 'qemu:///system' },
    tokenFile: values['token-file'],
    unixSocket: values['unix-socket'],
    bridges: (values.bridge ?? []).map(legalBridge),
    uplinks: legalUplinks(values.uplink ?? []),
    metadata: values['allow-metadata'],
    restore: oneOf('--restore', restores, values.restore),
    onStop: oneOf('--on-stop', ['leave', ...stopWays] as const, values['on-stop']),
    hostApi: listenAddress('--host-api', values['host-api']),
    shutdownTimeoutMs:
      numberOf('--shutdown-timeout', values['shutdown-timeout'], SHUTDOWN_SECONDS_MAX) * 1000,
    stopGuests:
      values['stop-guests'] === undefined
        ? undefined
        : oneOf('--stop-guests', stopWays, values['stop-guests']),
    sudoUid: Number.isInteger(sudo) && environment['SUDO_UID'] !== undefined ? sudo : undefined,
  }
}

function legalBridge(name: string): string {
  const why = whyNotBridge(name)
  if (why !== undefined) throw new Fault('invalid', `--bridge: ${why}`)
  return name
}

/** Of Linux, for the name of a bridge of the uplink: br- and its name. */
const UPLINK_PATTERN = /^[a-z][a-z0-9-]{0,11}$/
/** The way out that every host has; and its bridge would be that of VMs. */
const RESERVED_UPLINKS = ['out', 'int']

function legalUplinks(texts: readonly string[]): HostUplink[] {
  const uplinks = texts.map((text) => {
    const [name = '', device = '', ...rest] = text.split('=')
    if (rest.length > 0 || !UPLINK_PATTERN.test(name) || whyNotBridge(device) !== undefined) {
      throw new Fault('invalid', `--uplink must be NAME=DEVICE, such as site=eth1, not ${text}`, {
        hint: `the name must match ${UPLINK_PATTERN.source}`,
      })
    }
    if (!RESERVED_UPLINKS.includes(name)) return { name, device }
    throw new Fault('invalid', `--uplink: the name ${name} is reserved`)
  })
  for (const part of ['name', 'device'] as const) {
    const used = uplinks.map((uplink) => uplink[part])
    const twice = used.find((each, at) => used.indexOf(each) !== at)
    if (twice !== undefined) throw new Fault('invalid', `--uplink: ${twice} is named twice`)
  }
  return uplinks
}

function numberOf(option: string, value: string, max: number): number {
  const number = Number(value)
  if (Number.isInteger(number) && number >= 1 && number <= max) return number
  throw new Fault('invalid', `${option} must be a number from 1 to ${max}, not ${value}`)
}

function oneOf<const Word extends string>(
  option: string,
  words: readonly Word[],
  value: string,
): Word {
  const found = words.find((each) => each === value)
  if (found !== undefined) return found
  throw new Fault('invalid', `${option} must be one of ${words.join(', ')}, not ${value}`)
}
