// npm run -s setup:clients: installs the Python clients and the generators of clients if they are missing.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { pythonWith } from '@skerry/lab'

const at = (path: string) => join(import.meta.dirname, path)

try {
  for (const list of ['requirements.txt', 'openapi-python/requirements.txt']) {
    console.log(`clients: those in Python are beside ${await pythonWith(at(list))}`)
  }
  // Go keeps the program that it builds in its cache.
  await promisify(execFile)('go', ['tool', '-n', 'oapi-codegen'], { cwd: at('openapi-go') })
} catch (error) {
  console.error(`clients: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
