// npm run -s setup:clients: installs the Python clients if they are missing.
import { join } from 'node:path'

import { pythonWith } from '@skerry/lab'

try {
  const python = await pythonWith(join(import.meta.dirname, 'requirements.txt'))
  console.log(`clients: those in Python are beside ${python}`)
} catch (error) {
  console.error(`clients: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
