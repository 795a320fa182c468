import { printable } from '@skerry/command-line'

import type { CliContext } from '../command.ts'
import { showProgress } from '../terminal/progress.ts'
import type { ChangeOptions, CommandResult } from '../vms/vm-backend.ts'

/** Prints a result: as JSON, or as text with the next step. */
export function printResult(
  context: Pick<CliContext, 'print' | 'complain'>,
  json: boolean,
  result: CommandResult,
): void {
  const { text, body, next } = result
  if (json) return context.print(JSON.stringify(body, null, 2))
  context.print(printable(text))
  if (next !== undefined) context.complain(`next: ${printable(next)}`)
}

/** Runs an operation with a progress line, and prints its result. */
export async function doAndSay(
  context: CliContext,
  { label, wait, json }: { readonly label: string; readonly wait: boolean; readonly json: boolean },
  work: (doing: ChangeOptions) => Promise<CommandResult>,
): Promise<void> {
  printResult(
    context,
    json,
    await showProgress(context, label, async (report) => work({ wait, report })),
  )
}
