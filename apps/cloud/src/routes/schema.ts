import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { schemaIn } from '../documents/schema-in.ts'
import { versions } from '../http/version.ts'
import { route } from '../route.ts'

const SCHEMA = join(import.meta.dirname, '../../schema/v1.5')

export const schema = [
  route({
    name: 'readSchema',
    method: 'GET',
    path: at.schema,
    permission: 'anyone',
    answers: { 200: 'schema' },
    doc: 'The XML Schema of every document, beginning with master.xsd. One for all versions: what is younger is optional.',
    async handle(_world, { dialect, params: { version, file } }) {
      const known = versions.some((each) => each === version)
      const body = known ? await contents(file) : undefined
      if (body === undefined) throw new Fault('not-found', 'there is no such schema')
      return { status: 200, body: schemaIn(dialect, file, body) }
    },
  }),
]

/** A name of the schema's own, and nothing that leads out of its directory. */
async function contents(file: string): Promise<string | undefined> {
  if (!/^[a-z]+\.xsd$/.test(file)) return undefined
  try {
    return await readFile(join(SCHEMA, file), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
