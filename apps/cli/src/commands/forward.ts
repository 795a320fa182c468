import { command } from '../command.ts'
import { Failure } from '../failure.ts'
import { path } from '../local-client.ts'
import { renderTable, type Column } from '../table.ts'

interface Forward {
  readonly hostAddress: string
  readonly hostPort: number
  readonly guestPort: number
  readonly protocol: string
  readonly listening?: boolean
}

const hostSide = ({ hostAddress, hostPort }: Forward): string =>
  hostAddress.includes(':') ? `[${hostAddress}]:${hostPort}` : `${hostAddress}:${hostPort}`

const columns: readonly Column<Forward>[] = [
  { head: 'ON THE HOST', cell: hostSide },
  { head: 'IN THE GUEST', align: 'right', cell: ({ guestPort }) => String(guestPort) },
  { head: 'PROTOCOL', cell: ({ protocol }) => protocol },
  { head: 'LISTENING', cell: ({ listening }) => (listening === true ? 'yes' : 'no') },
]

export const forward = [
  command({
    name: 'forward add',
    asks: 'vmd',
    instead: 'reach the guest at its own address: skerry ip VM',
    usage: 'VM HOSTPORT:GUESTPORT',
    summary: 'make a port of this machine lead to a port of the guest; it stays over restarts',
    examples: ['skerry forward add web 8022:22', 'skerry forward add web 8443:443 --ipv6'],
    next: 'ask there: ssh -p 8022 root@127.0.0.1',
    options: { ipv6: { type: 'boolean', doc: 'listen on [::1] instead of 127.0.0.1' } },
    async run({ api, print }, { words: [id = '', ports = ''], options, json }) {
      const { body } = await api.ask<Forward>('POST', path('vms', id, 'forwards'), {
        body: { ...readPorts(ports), ...(options.ipv6 === true && { hostAddress: '::1' }) },
      })
      const text = `${hostSide(body)} leads to port ${body.guestPort} of ${id}`
      print(json ? JSON.stringify(body, null, 2) : text)
    },
  }),
  command({
    name: 'forward list',
    asks: 'vmd',
    instead: 'reach the guest at its own address: skerry ip VM',
    usage: 'VM',
    summary: 'the ports that lead to a guest',
    examples: ['skerry forward list web'],
    next: 'skerry forward rm VM HOSTPORT takes one away',
    async run({ api, print, colours }, { words: [id = ''], json }) {
      const { body } = await api.ask<readonly Forward[]>('GET', path('vms', id, 'forwards'))
      print(json ? JSON.stringify(body, null, 2) : renderTable(columns, body, colours))
    },
  }),
  command({
    name: 'forward rm',
    asks: 'vmd',
    instead: 'reach the guest at its own address: skerry ip VM',
    usage: 'VM HOSTPORT',
    summary: 'take a forward away; connections through it end',
    examples: ['skerry forward rm web 8022'],
    next: 'skerry forward list VM shows what is left',
    async run({ api, print }, { words: [id = '', port = ''], json }) {
      await api.ask('DELETE', path('vms', id, 'forwards', port))
      print(json ? JSON.stringify({ removed: port }, null, 2) : `port ${port} leads nowhere now`)
    },
  }),
]

/** '8022:22', the way round that ssh and others write it. */
function readPorts(text: string): { hostPort: number; guestPort: number } {
  const [, host, guest] = /^(\d{1,5}):(\d{1,5})$/.exec(text) ?? []
  if (host !== undefined && guest !== undefined) {
    return { hostPort: Number(host), guestPort: Number(guest) }
  }
  throw new Failure('usage', `the ports must be such as 8022:22, not ${text}`, {
    hint: 'first the port of this machine, then the port of the guest',
  })
}
