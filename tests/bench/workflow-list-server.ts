// The server of prove-workflow-list.ts: real PostgreSQL, so many workflows of one organisation, and a simulated cloud.

import { openDatabase } from '@skerry/postgres'
import { sql } from 'kysely'

import { openDoor, authorization } from '../../apps/workflow/test/door.ts'
import { seedWorkflow } from '../../apps/workflow/test/workflow-database.ts'

const count = Number(process.argv[2])
const door = await openDoor()
const { who } = door.eng
const first = await seedWorkflow(door.store, who, { name: 'first', folder: 'Many' })
await sql`
  insert into workflow (org, org_name, id, category, category_name, name, description, tags, version, digest, owner, owner_name)
  select ${who.org}, ${who.orgName}, gen_random_uuid(), ${first.category.id}, 'Many',
    'Workflow ' || lpad(n::text, 6, '0'), 'Does what number ' || n || ' does, every night and on demand.',
    array['nightly', 'number-' || n % 10], '1.0.0', ${first.digest}, ${who.account}, ${who.user}
  from generate_series(1, ${count - 2}) n`.execute(door.store.db)
// As PostgreSQL does by itself a minute later. Only the owner may: whoever else asks is warned, and nothing is done.
const owner = openDatabase({ url: door.store.url, applicationName: 'seed' })
await sql`vacuum (analyze) workflow`.execute(owner)
await owner.destroy()
process.on('message', () => {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  process.send?.(heapUsed + external)
})
process.send?.({ port: door.port, authorization: authorization(who) })
await new Promise<void>((resolve) => process.once('SIGTERM', () => resolve()))
await door[Symbol.asyncDispose]()
process.exit(0)
