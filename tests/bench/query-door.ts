import { tokenOf } from '../../apps/cloud/test/asker-of.ts'
// The tenants' door over 10,000 VMs, in a process of its own; says where it is and with what it can be asked.
import { addMany, GIANT } from '../../apps/cloud/test/many-rows.ts'
import { openDoor } from '../../apps/cloud/test/tenants-door.ts'

const door = await openDoor()
const { db, url } = door.cloud
await addMany(door.cloud, { vms: 10_000, orgs: 10, giant: 2000 })
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
console.log(JSON.stringify({ port: door.port, token, org: org.id, vm: vm.id, url }))
process.stdin.on('end', () => void door[Symbol.asyncDispose]()).resume()
