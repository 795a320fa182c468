import type { World } from './command.ts'
import { showProgress } from './progress.ts'
import { printable } from './table.ts'
import type { Doing, Told } from './verbs.ts'

/** Prints what came of something: for programs, or for people with what is mostly done then. */
export function say(world: Pick<World, 'print' | 'complain'>, json: boolean, told: Told): void {
  const { text, body, next } = told
  if (json) return world.print(JSON.stringify(body, null, 2))
  world.print(printable(text))
  if (next !== undefined) world.complain(`next: ${printable(next)}`)
}

/** Does it with its progress on the screen, and says what came of it. */
export async function doAndSay(
  world: World,
  { label, wait, json }: { readonly label: string; readonly wait: boolean; readonly json: boolean },
  work: (doing: Doing) => Promise<Told>,
): Promise<void> {
  say(world, json, await showProgress(world, label, async (tell) => work({ wait, tell })))
}
