import type { Options, Values } from './command.ts'
import { Failure } from './failure.ts'

/** For everything that a cloud does behind the answer. */
export const waitOptions = {
  wait: { type: 'boolean', doc: 'wait until it is done, which is so unless told' },
  'no-wait': { type: 'boolean', doc: 'answer at once; in a cloud the task goes on by itself' },
} as const satisfies Options

export function wantsWait(options: Values<typeof waitOptions>): boolean {
  if (options.wait === true && options['no-wait'] === true) {
    throw new Failure('usage', 'give --wait or --no-wait, not both')
  }
  return options['no-wait'] !== true
}
