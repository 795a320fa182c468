import { command, type World } from '../command.ts'
import { Failure } from '../failure.ts'

const SHOWN: ReadonlySet<string> = new Set(['powered on', 'paused'])

export const openConsole = command({
  name: 'console',
  usage: 'VM',
  summary: 'the screen of a VM, in the browser',
  examples: ['skerry console web', 'skerry console web --print'],
  next: 'skerry start VM, where it is off; skerry ssh VM for a shell without a screen',
  options: {
    print: { type: 'boolean', doc: 'print the address and open nothing, as --json does' },
  },
  async run(world, { words: [id = ''], options, json }) {
    const { address, state, expires } = await world.verbs.screen(id)
    if (json) return world.print(JSON.stringify({ address, state, expires }, null, 2))
    world.print(address)
    if (expires !== undefined) world.complain('the address is good once, and for half a minute')
    if (!SHOWN.has(state)) world.complain(`${id} is ${state}; turn it on: skerry start ${id}`)
    if (options.print !== true) await openBrowser(world, address)
    return undefined
  },
})

/** The address is printed already, so that whatever goes wrong here is no failure of the command. */
async function openBrowser(world: World, address: string): Promise<void> {
  if (world.browser === undefined) return
  const [program = '', ...words] = browserLine(world.browser, address)
  try {
    const code = await world.runProgram(program, words)
    if (code !== 0) world.complain(`${program} ended with ${code}; open the address yourself`)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    world.complain(`${error.message}; open the address yourself`)
  }
}

/** A line of $BROWSER: the address stands where it says %s, or at the end. */
function browserLine(browser: string, address: string): readonly string[] {
  const words = browser.split(' ').filter((word) => word !== '')
  return words.some((word) => word.includes('%s'))
    ? words.map((word) => word.replaceAll('%s', address))
    : [...words, address]
}
