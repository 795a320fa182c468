import { isIP } from 'node:net'

import { Fault } from '@skerry/fault'

export interface ListenAddress {
  readonly address: string
  readonly port: number
}

/** Parses `192.0.2.7:8443` or `[::]:8443`, the value of this option. */
export function listenAddress(option: string, value: string): ListenAddress {
  const [, six, four, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):([0-9]{1,5})$/.exec(value) ?? []
  const address = six ?? four ?? ''
  if (isIP(address) !== 0 && Number(port) > 0 && Number(port) < 65_536) {
    return { address, port: Number(port) }
  }
  throw new Fault('invalid', `${option} must be like 192.0.2.7:8443 or [::]:8443, not ${value}`)
}
