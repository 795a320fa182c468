// Writes the pages of docs/reference, which are made of the tables in the code.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { operationsReference } from '../apps/cloud/src/reference.ts'

const directory = join(import.meta.dirname, '../docs/reference')
await mkdir(directory, { recursive: true })
await writeFile(join(directory, 'operations.md'), operationsReference())
