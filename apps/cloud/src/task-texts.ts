import { operations } from './operations.ts'
import { clone, compose, instantiate, recompose, vappOperations } from './vapp-operations.ts'
import { writtenOperations } from './written-operations.ts'

const wholes = [
  instantiate({ power: false }),
  compose({ power: false }),
  recompose(new Set(), new Set()),
  clone([]),
]

/** Operation → what clients are told of it: its name in the API, and what it does in words. */
export const taskTexts = new Map(
  [...wholes, ...vappOperations, ...operations, ...writtenOperations].map(({ name, task }) => [
    name,
    task,
  ]),
)
