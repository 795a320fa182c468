import { command } from '../command.ts'
import { wholeNumber } from '../number.ts'
import { printable } from '../table.ts'

export const events = command({
  name: 'events',
  usage: '',
  summary: 'what happens to VMs, as it happens; goes on where it was when vmd or a cell restarts',
  examples: ['skerry events', 'skerry events --since 0 --count 20 --json'],
  next: 'skerry info VM tells more of a VM that an event names',
  options: {
    since: { type: 'string', value: 'ID', doc: 'first all that happened after this event' },
    count: { type: 'string', value: 'N', doc: 'end after so many' },
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
