import { Fault, httpStatus } from '@skerry/fault'

/** The maximum length of a chain of causes; a longer one adds no information. */
const CAUSES_MAX = 5

/**
 * A line of the log. A rejected request is logged with its message only: any caller can cause thousands of such lines. An internal
 * failure is logged with its stack and its causes.
 */
export function logLine(at: Date, message: string, cause?: unknown): string {
  return `${at.toISOString()} ${onOneLine(message)}${causeText(cause)}\n`
}

function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return ''
  if (cause instanceof Fault && httpStatus[cause.kind] < 500) return `: ${onOneLine(cause.message)}`
  const stacks: string[] = []
  for (let each: unknown = cause; each instanceof Error; each = each.cause) {
    if (stacks.push(each.stack ?? each.message) === CAUSES_MAX) break
  }
  return ` ${stacks.join('\n  caused by ')}`
}

/** Paths may contain line breaks and worse; no caller may inject a line into the log. */
const onOneLine = (text: string): string =>
  text.replace(/[\p{Cc}\u2028\u2029]/gu, (each) => JSON.stringify(each).slice(1, -1))
