import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

import { shapesOf, type ElementShape } from '@skerry/xml'

export const SCHEMA_DIRECTORY = join(import.meta.dirname, '../../schema/v1.5')

/** The shapes of all documents, from the published schema; read once, when the program starts. */
export const shapes: ReadonlyMap<string, ElementShape> = shapesOf(
  readdirSync(SCHEMA_DIRECTORY).map((file) => readFileSync(join(SCHEMA_DIRECTORY, file), 'utf8')),
)

export function shapeOf(element: string): ElementShape {
  const shape = shapes.get(element)
  if (!shape) throw new TypeError(`the schema has no element ${element}`)
  return shape
}
