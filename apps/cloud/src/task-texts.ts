import { operations } from './operations.ts'
import { instantiate, vappOperations } from './vapp-operations.ts'
import { writtenOperations } from './written-operations.ts'

/** Operation → what clients are told of it: its name in the API, and what it does in words. */
export const taskTexts = new Map(
  [instantiate({ power: false }), ...vappOperations, ...operations, ...writtenOperations].map(
    ({ name, task }) => [name, task],
  ),
)
