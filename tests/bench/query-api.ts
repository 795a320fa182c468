// The tenant API with 10,000 VMs, in its own process; prints its address and credentials.
import { addMany, GIANT } from '../../apps/cloud/test/many-rows.ts'
import { openTenantsApi } from '../../apps/cloud/test/tenants-api.ts'
import { tokenOf } from '../../apps/cloud/test/token-of.ts'

const api = await openTenantsApi()
const { db, url } = api.cloud
await addMany(api.cloud, { vms: 10_000, orgs: 10, giant: 2000 })
const token = await tokenOf(db, GIANT)
const org = await db
  .selectFrom('org')
  .select('id')
  .where('name', '=', GIANT)
  .executeTakeFirstOrThrow()
const vm = await db
  .selectFrom('vm')
  .select('id')
  .where('org', '=', org.id)
  .where('deleted_at', 'is', null)
  .executeTakeFirstOrThrow()
console.log(JSON.stringify({ port: api.port, token, org: org.id, vm: vm.id, url }))
process.stdin.on('end', () => void api[Symbol.asyncDispose]()).resume()
