// npm run -s setup:temporal: builds the Temporal server when it is not there yet.
import { TEMPORAL_VERSION, temporalPrograms } from './temporal-build.ts'

try {
  const { server } = await temporalPrograms()
  console.log(`temporal: ${TEMPORAL_VERSION} is in ${server}`)
} catch (error) {
  console.error(`temporal: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
