// npm run -s setup:identity: downloads Keycloak and installs Samba, if they are not there yet. Needs root and Java.
import { keycloakProgram } from './identity/keycloak-program.ts'
import { sambaTree } from './identity/samba-tree.ts'

try {
  console.log(`identity: Keycloak is in ${await keycloakProgram()}`)
  console.log(`identity: Samba is in ${await sambaTree()}`)
} catch (error) {
  console.error(`identity: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}
