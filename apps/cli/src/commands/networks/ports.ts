import { Failure } from '../../terminal/failure.ts'

const PORT_MAX = 65_535

function readPort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= PORT_MAX) return port
  throw new Failure('usage', `${text} is not a port: it must be from 1 to ${PORT_MAX}`)
}

/** An address, with a port if it has one: 203.0.113.7:443. */
export function readEndpoint(text: string): { readonly address: string; readonly port?: number } {
  const [address = '', port, ...rest] = text.split(':')
  if (address === '' || rest.length > 0) {
    throw new Failure('usage', `${text} must be like 203.0.113.7:443`)
  }
  return port === undefined ? { address } : { address, port: readPort(port) }
}

/** The port outside and that of the guest: 443, or 443:8443. */
export function readPortPair(text: string): { readonly port: number; readonly inner: number } {
  const [outer = '', inner = outer, ...rest] = text.split(':')
  if (rest.length > 0) {
    throw new Failure('usage', `--port must be like 443 or 443:8443, not ${text}`, {
      hint: 'first the port outside, then the port of the guest',
    })
  }
  return { port: readPort(outer), inner: readPort(inner) }
}

/** A port or a range of ports: 443, 8000-8100. */
export function readPorts(text: string): string {
  const [low = '', high = low, ...rest] = text.split('-')
  if (rest.length > 0 || readPort(low) > readPort(high)) {
    throw new Failure('usage', `--port must be like 443 or 8000-8100, not ${text}`)
  }
  return text
}

export function readProtocol(text = 'tcp'): 'tcp' | 'udp' {
  if (text === 'tcp' || text === 'udp') return text
  throw new Failure('usage', `--protocol must be tcp or udp, not ${text}`)
}
