import { printable } from '@skerry/command-line'

import { command } from '../../command.ts'
import { wholeNumber } from '../../terminal/number.ts'

export const followEvents = command({
  name: 'event follow',
  usage: '',
  summary: 'follow the events of VMs; resumes after vmd or a cell restarts',
  examples: ['skerry event follow', 'skerry event follow --since 0 --count 20 --json'],
  next: 'skerry info VM shows the VM of an event',
  options: {
    since: { type: 'string', value: 'ID', doc: 'start after this event' },
    count: { type: 'string', value: 'N', doc: 'exit after N events' },
  },
  async run({ verbs, print }, { options: { since, count }, json }) {
    let left = wholeNumber('--count', count) ?? Infinity
    for await (const { text, body } of verbs.events(since)) {
      print(json ? JSON.stringify(body) : printable(text))
      left -= 1
      if (left === 0) return
    }
  },
})
