import { renderTable, type TableColumn } from '@skerry/command-line'

import { command } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'
import { path } from '../../vms/local-client.ts'

interface Forward {
  readonly hostAddress: string
  readonly hostPort: number
  readonly guestPort: number
  readonly protocol: string
  readonly listening?: boolean
}

const hostSide = ({ hostAddress, hostPort }: Forward): string =>
  hostAddress.includes(':') ? `[${hostAddress}]:${hostPort}` : `${hostAddress}:${hostPort}`

const columns: readonly TableColumn<Forward>[] = [
  { head: 'ON THE HOST', cell: hostSide },
  { head: 'IN THE GUEST', align: 'right', cell: ({ guestPort }) => String(guestPort) },
  { head: 'PROTOCOL', cell: ({ protocol }) => protocol },
  { head: 'LISTENING', cell: ({ listening }) => (listening === true ? 'yes' : 'no') },
]

export const forward = [
  command({
    name: 'forward add',
    asks: 'vmd',
    instead: 'connect to the guest at its own address: skerry address VM',
    usage: 'VM HOSTPORT:GUESTPORT',
    summary: 'forward a port of this machine to a port of the guest; persists across restarts',
    examples: ['skerry forward add web 8022:22', 'skerry forward add web 8443:443 --ipv6'],
    next: 'connect to it, e.g. ssh -p 8022 root@127.0.0.1',
    options: { ipv6: { type: 'boolean', doc: 'listen on [::1] instead of 127.0.0.1' } },
    async run({ api, print }, { words: [id = '', ports = ''], options, json }) {
      const { body } = await api.ask<Forward>('POST', path('vms', id, 'forwards'), {
        body: { ...readPorts(ports), ...(options.ipv6 === true && { hostAddress: '::1' }) },
      })
      const text = `${hostSide(body)} forwards to port ${body.guestPort} of ${id}`
      print(json ? JSON.stringify(body, null, 2) : text)
    },
  }),
  command({
    name: 'forward list',
    asks: 'vmd',
    instead: 'connect to the guest at its own address: skerry address VM',
    usage: 'VM',
    summary: 'list the port forwards of a VM',
    examples: ['skerry forward list web'],
    next: 'skerry forward rm VM HOSTPORT removes one',
    async run({ api, print, colours }, { words: [id = ''], json }) {
      const { body } = await api.ask<readonly Forward[]>('GET', path('vms', id, 'forwards'))
      print(json ? JSON.stringify(body, null, 2) : renderTable(columns, body, colours))
    },
  }),
  command({
    name: 'forward rm',
    asks: 'vmd',
    instead: 'connect to the guest at its own address: skerry address VM',
    usage: 'VM HOSTPORT',
    summary: 'remove a port forward; its connections are closed',
    examples: ['skerry forward rm web 8022'],
    next: 'skerry forward list VM lists the others',
    async run({ api, print }, { words: [id = '', port = ''], json }) {
      await api.ask('DELETE', path('vms', id, 'forwards', port))
      print(
        json ? JSON.stringify({ removed: port }, null, 2) : `forward of port ${port} is removed`,
      )
    },
  }),
]

/** Parses '8022:22': host port first, as in ssh -L and docker -p. */
function readPorts(text: string): { hostPort: number; guestPort: number } {
  const [, host, guest] = /^(\d{1,5}):(\d{1,5})$/.exec(text) ?? []
  if (host !== undefined && guest !== undefined) {
    return { hostPort: Number(host), guestPort: Number(guest) }
  }
  throw new Failure('usage', `ports must be like 8022:22, not ${text}`, {
    hint: 'first the port of this machine, then the port of the guest',
  })
}
