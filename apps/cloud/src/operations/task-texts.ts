import { immediateOperations } from '../domain/immediate-operations.ts'
import { networkOperations } from '../domain/network-operations.ts'
import { clone, compose, instantiate, recompose, vappOperations } from './vapp-operations.ts'
import { operations } from './vm-operations.ts'

const wholes = [
  instantiate({ power: false }),
  compose({ power: false }),
  recompose(new Set(), new Set()),
  clone([]),
]

/** Operation → its texts for clients: its name in the API, and what it does in words. */
export const taskTexts = new Map(
  [...wholes, ...vappOperations, ...operations, ...immediateOperations, ...networkOperations].map(
    ({ name, task }) => [name, task],
  ),
)
