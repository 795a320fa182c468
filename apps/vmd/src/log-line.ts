import { Fault, httpStatus } from '@skerry/fault'

/** Causes have causes; a chain that is longer than this tells nothing more. */
const CAUSES_MAX = 5

/**
 * A line of the log. What somebody asked for and could not have is told in its own words and no more: anybody who may ask
 * can have thousands of them written. What went wrong on our side is told with where, and with its causes.
 */
export function logLine(at: Date, message: string, cause?: unknown): string {
  return `${at.toISOString()} ${onOneLine(message)}${because(cause)}\n`
}

function because(cause: unknown): string {
  if (!(cause instanceof Error)) return ''
  if (cause instanceof Fault && httpStatus[cause.kind] < 500) return `: ${onOneLine(cause.message)}`
  const stacks: string[] = []
  for (let each: unknown = cause; each instanceof Error; each = each.cause) {
    if (stacks.push(each.stack ?? each.message) === CAUSES_MAX) break
  }
  return ` ${stacks.join('\n  caused by ')}`
}

/** Names of paths may hold line breaks and worse; nobody may write a line of his own into the log. */
const onOneLine = (text: string): string =>
  text.replace(/[\p{Cc}\u2028\u2029]/gu, (each) => JSON.stringify(each).slice(1, -1))
