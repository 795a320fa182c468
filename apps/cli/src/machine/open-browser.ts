import type { CliContext } from '../command.ts'
import { Failure } from '../terminal/failure.ts'

/** Opens a URL where there is a display. The URL is printed already, so an error here does not fail the command. */
export async function openBrowser(context: CliContext, address: string): Promise<void> {
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
