import { command } from '../../command.ts'
import { wholeNumber } from '../../terminal/number.ts'
import { path } from '../../vms/local-client.ts'

// A guest could send control sequences to the terminal; only text, newlines and tabs are kept.
// oxlint-disable-next-line no-control-regex
const COMMANDS = /\u001B\[[0-9;?]*[A-Za-z]|[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g

export const logs = command({
  name: 'logs',
  asks: 'vmd',
  instead: 'skerry console VM shows its screen from the start of the boot',
  usage: 'VM',
  summary: 'print the end of the guest’s serial console output',
  examples: ['skerry logs web', 'skerry logs web --bytes 4096'],
  next: 'skerry reset VM if the guest hangs',
  options: { bytes: { type: 'string', value: 'N', doc: 'how many bytes (default: 65536)' } },
  async run({ api, write, print }, { words: [id = ''], options, json }) {
    const bytes = wholeNumber('--bytes', options.bytes)
    const query = bytes === undefined ? '' : `?bytes=${bytes}`
    const serial = new TextDecoder().decode(await api.bytes(path('vms', id, 'serial') + query))
    if (json) return print(JSON.stringify({ serial }, null, 2))
    const harmless = serial.replace(COMMANDS, '')
    return write(harmless === '' || harmless.endsWith('\n') ? harmless : `${harmless}\n`)
  },
})
