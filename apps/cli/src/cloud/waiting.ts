import type { Options, OptionValues } from '@skerry/command-line'

import { Failure } from '../terminal/failure.ts'

/** Options of commands that start a task in a cloud. */
export const waitOptions = {
  wait: { type: 'boolean', doc: 'wait until the operation ends (default)' },
  'no-wait': { type: 'boolean', doc: 'cloud only: return at once; the task continues' },
} as const satisfies Options

export function wantsWait(options: OptionValues<typeof waitOptions>): boolean {
  if (options.wait === true && options['no-wait'] === true) {
    throw new Failure('usage', 'give --wait or --no-wait, not both')
  }
  return options['no-wait'] !== true
}
