// npm run -s setup:temporal: builds the Temporal server if it is not there yet.
import { temporalVersion } from '@skerry/site'

import { temporalPrograms } from './temporal/temporal-build.ts'

try {
  const { server } = await temporalPrograms()
  console.log(`temporal: ${temporalVersion} is in ${server}`)
} catch (error) {
  console.error(`temporal: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
