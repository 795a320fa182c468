import { parseArgs } from 'node:util'

import { Fault } from '@skerry/fault'
import { listenAddress } from '@skerry/service'
import { whyNotBridge } from '@skerry/vm'

import { restores, stopWays, type Restore, type StopWay } from './autostart.ts'

const SHUTDOWN_SECONDS_MAX = 3600

/** Everything an operator can set, with what happens when it is left out. */
export interface Config {
  readonly port: number
  readonly libvirt: { readonly socket: string; readonly uri: string }
  /** The file with the word that every request must carry, when one is wanted. */
  readonly tokenFile: string | undefined
  /** A third way in, for whoever may write to this file. */
  readonly unixSocket: string | undefined
  /** The user who started it by sudo; he, root and the members of the group may ask. */
  readonly sudoUid: number | undefined
  /** The bridges of this machine that VMs may join when they are asked to. */
  readonly bridges: readonly string[]
  /** Which VMs run again after a start of the machine. */
  readonly restore: Restore
  /** What becomes of the guests when vmd is stopped. */
  readonly onStop: StopWay | 'leave'
  /** Where the cloud's cells ask, once this machine has joined one. */
  readonly hostApi: { readonly address: string; readonly port: number }
  /** How long a guest may take to shut itself down. */
  readonly shutdownTimeoutMs: number
  /** Not a daemon: asks the one that runs to stop its guests in this way. */
  readonly stopGuests: StopWay | undefined
}

export const usage = `usage: skerry vmd [--port N] [--libvirt-socket PATH] [--token-file PATH] [--unix-socket PATH]
  --port N                where to listen on 127.0.0.1 and [::1]; 8080 unless told
  --libvirt-socket PATH   /run/libvirt/libvirt-sock unless told
  --token-file PATH       every request must carry the word in this file, of mode 0600: Authorization: Bearer WORD
  --unix-socket PATH      answer here too, to root and the group skerry; folders cannot be shared by this way
  --bridge NAME           VMs may join this bridge of the machine when they are asked to, and are then outside of vmd's wall; may be given several times
  --restore WHICH         after a start of the machine: autostart (those set to, and those it stopped in order) or previous (all that ran)
  --on-stop WAY           what becomes of guests when vmd is stopped: leave (they run on, unless told), suspend or shutdown
  --host-api ADDRESS:PORT  where the cells of its cloud ask, once this machine has joined one; [::]:8443 unless told
  --shutdown-timeout S    how many seconds a guest may take to shut itself down; 60 unless told
  --stop-guests WAY       ask the vmd that runs to suspend or shutdown all guests, as before the machine goes down

skerry vmd join makes this machine a host of a cloud; skerry cloud invite prints the line to run`

export function readConfig(args: readonly string[], environment: NodeJS.ProcessEnv): Config {
  const { values } = parse(args)
  const sudo = Number(environment['SUDO_UID'])
  return {
    port: numberOf('--port', values.port, 65_535),
    libvirt: { socket: values['libvirt-socket'], uri: 'qemu:///system' },
    tokenFile: values['token-file'],
    unixSocket: values['unix-socket'],
    bridges: values.bridge.map(legalBridge),
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

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: 'string', default: '8080' },
        'token-file': { type: 'string' },
        'unix-socket': { type: 'string' },
        bridge: { type: 'string', multiple: true, default: [] },
        restore: { type: 'string', default: 'autostart' },
        'on-stop': { type: 'string', default: 'leave' },
        'shutdown-timeout': { type: 'string', default: '60' },
        'stop-guests': { type: 'string' },
        'host-api': { type: 'string', default: '[::]:8443' },
        'libvirt-socket': { type: 'string', default: '/run/libvirt/libvirt-sock' },
      },
    })
  } catch (cause) {
    throw new Fault('invalid', `${(cause as Error).message}\n${usage}`, { cause })
  }
}
