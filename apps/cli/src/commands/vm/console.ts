import { command } from '../../command.ts'
import { openBrowser } from '../../machine/open-browser.ts'

const SHOWN: ReadonlySet<string> = new Set(['powered on', 'paused'])

export const openConsole = command({
  name: 'console',
  usage: 'VM',
  summary: 'open the screen of a VM in the browser',
  examples: ['skerry console web', 'skerry console web --print'],
  next: 'skerry start VM if it is off; skerry ssh VM for a shell without a screen',
  options: {
    print: { type: 'boolean', doc: 'print the URL instead of opening it, as --json does' },
  },
  async run(context, { words: [id = ''], options, json }) {
    const { address, state, expires } = await context.verbs.screen(id)
    if (json) return context.print(JSON.stringify({ address, state, expires }, null, 2))
    context.print(address)
    if (expires !== undefined) context.complain('the URL can be used once, within 30 seconds')
    if (!SHOWN.has(state)) context.complain(`${id} is ${state}; turn it on: skerry start ${id}`)
    if (options.print !== true) await openBrowser(context, address)
    return undefined
  },
})
