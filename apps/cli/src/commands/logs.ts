import { command } from '../command.ts'
import { path } from '../local-client.ts'
import { wholeNumber } from '../number.ts'

// A guest could tell the terminal to do things; of what it prints only text, lines and tabs are kept.
// oxlint-disable-next-line no-control-regex
const COMMANDS = /\u001B\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g

export const logs = command({
  name: 'logs',
  asks: 'vmd',
  instead: 'skerry console VM shows its screen from the first line of boot on',
  usage: 'VM',
  summary: 'the end of what the guest printed on its serial port',
  examples: ['skerry logs web', 'skerry logs web --bytes 4096'],
  next: 'skerry reset VM, where the guest hangs',
  options: { bytes: { type: 'string', value: 'N', doc: 'how much; 65536 unless told' } },
  async run({ api, write, print }, { words: [id = ''], options, json }) {
    const bytes = wholeNumber('--bytes', options.bytes)
    const query = bytes === undefined ? '' : `?bytes=${bytes}`
    const serial = new TextDecoder().decode(await api.bytes(path('vms', id, 'serial') + query))
    if (json) return print(JSON.stringify({ serial }, null, 2))
    const harmless = serial.replace(COMMANDS, '')
    return write(harmless === '' || harmless.endsWith('\n') ? harmless : `${harmless}\n`)
  },
})
