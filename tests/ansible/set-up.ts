// npm run -s setup:ansible: installs ansible-core if it is missing. CI does not need it.
import { join } from 'node:path'

import { pythonWith } from '@skerry/lab'

try {
  const python = await pythonWith(join(import.meta.dirname, 'requirements.txt'))
  console.log(`ansible: ansible-core is beside ${python}`)
} catch (error) {
  console.error(`ansible: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
