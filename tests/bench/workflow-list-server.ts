// The server of prove-workflow-list.ts: real PostgreSQL, many workflows of one organisation, and a simulated cloud.

import { openDatabase } from '@skerry/postgres'
import { sql } from 'kysely'

import { openWorkflowApi, authorization } from '../../apps/workflow/test/workflow-api.ts'
import { seedWorkflow } from '../../apps/workflow/test/workflow-database.ts'

const count = Number(process.argv[2])
const api = await openWorkflowApi()
const { principal } = api.eng
const first = await seedWorkflow(api.store, principal, { name: 'first', folder: 'Many' })
await sql`
  insert into workflow (org, org_name, id, category, category_name, name, description, tags, version, digest, owner, owner_name)
  select ${principal.org}, ${principal.orgName}, gen_random_uuid(), ${first.category.id}, 'Many',
    'Workflow ' || lpad(n::text, 6, '0'), 'Does what number ' || n || ' does, every night and on demand.',
    array['nightly', 'number-' || n % 10], '1.0.0', ${first.digest}, ${principal.account}, ${principal.user}
  from generate_series(1, ${count - 2}) n`.execute(api.store.db)
// As PostgreSQL does by itself a minute later. Only the owner may; other users get a warning, and nothing is done.
const owner = openDatabase({ url: api.store.url, applicationName: 'seed' })
await sql`vacuum (analyze) workflow`.execute(owner)
await owner.destroy()
process.on('message', () => {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.(heapUsed + external)
})
process.send?.({ port: api.port, authorization: authorization(principal) })
await new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()))
await api[Symbol.asyncDispose]()
process.exit(0)
