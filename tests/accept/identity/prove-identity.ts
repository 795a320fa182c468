// npm run prove:identity [-- --only keycloak|saml|active-directory] Goal: users log in with a real Keycloak and with a real Active Directory,
// and lose access when they leave, as docs/guides/identity.md says. Method: a cell in its own process with TLS and a real PostgreSQL,
// Keycloak, Samba as domain controller, Chromium, and skerry. `npm run setup:identity` installs them.
// Prints a table, and one line of JSON; fails if something is not so.
import { parseArgs } from 'node:util'

import { reasonToSkip } from '@skerry/lab'

import { head, Proof } from './proof.ts'
import { proveActiveDirectory } from './prove-active-directory.ts'
import { proveKeycloak } from './prove-keycloak.ts'
import { proveSaml } from './prove-saml.ts'

const { values } = parseArgs({ options: { only: { type: 'string' } } })
const parts = {
  keycloak: proveKeycloak,
  saml: proveSaml,
  'active-directory': proveActiveDirectory,
} as const
const titles = {
  keycloak: 'Keycloak',
  saml: 'SAML behind Keycloak',
  'active-directory': 'Active Directory',
} as const
const names = Object.keys(parts) as (keyof typeof parts)[]
const wanted = names.filter((name) => values.only === undefined || values.only === name)
if (wanted.length === 0) throw new Error(`--only must be one of: ${names.join(', ')}`)
const missing = reasonToSkip('cloud', 'identity', 'browser')
if (missing !== undefined) throw new Error(missing)

console.log(head())
let shown = 0
let failed = 0
for (const name of wanted) {
  const proof = new Proof(titles[name])
  try {
    await parts[name](proof)
  } catch (error) {
    console.error(error)
    failed += 1
  }
  shown += proof.shown.filter(({ failure }) => failure === undefined).length
}
console.log(JSON.stringify({ proof: 'identity', shown, failed }))
if (failed > 0) process.exitCode = 1
