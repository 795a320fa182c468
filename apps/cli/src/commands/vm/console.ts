import { command, type CliContext } from '../../command.ts'
import { Failure } from '../../terminal/failure.ts'

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

/** The URL is printed already, so an error here does not fail the command. */
async function openBrowser(context: CliContext, address: string): Promise<void> {
  if (context.browser === undefined) return
  const [program = '', ...words] = browserLine(context.browser, address)
  try {
    const code = await context.runProgram(program, words)
    if (code !== 0) context.complain(`${program} exited with ${code}; open the URL yourself`)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    context.complain(`${error.message}; open the URL yourself`)
  }
}

/** The command of $BROWSER: the URL replaces %s, or is appended. */
function browserLine(browser: string, address: string): readonly string[] {
  const words = browser.split(' ').filter((word) => word !== '')
  return words.some((word) => word.includes('%s'))
    ? words.map((word) => word.replaceAll('%s', address))
    : [...words, address]
}
