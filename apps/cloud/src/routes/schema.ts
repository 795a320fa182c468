import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'

import { at } from '../dialect/addresses.ts'
import { SCHEMA_DIRECTORY } from '../dialect/shapes.ts'
import { versions } from '../dialect/version.ts'
import { schemaIn } from '../documents/schema-in.ts'
import { route } from '../http/route.ts'

export const schema = [
  route({
    name: 'readSchema',
    method: 'GET',
    path: at.schema,
    permission: 'anyone',
    answers: { 200: 'schema' },
    doc: 'The XML Schema of all documents, starting with master.xsd. There is one schema for all versions: newer elements are optional.',
    async handle(_world, { dialect, params: { version, file } }) {
      const known = versions.some((each) => each === version)
      const body = known ? await contents(file) : undefined
      if (body === undefined) throw new Fault('not-found', 'schema not found')
      return { status: 200, body: schemaIn(dialect, file, body) }
    },
  }),
]

/** Accepts only plain file names, so that no path leads out of the directory. */
async function contents(file: string): Promise<string | undefined> {
  if (!/^[a-z]+\.xsd$/.test(file)) return undefined
  try {
    return await readFile(join(SCHEMA_DIRECTORY, file), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
