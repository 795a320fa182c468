// The organisation that the plays work in: its administrator with an API token, and all that is in it.
import { randomBytes } from 'node:crypto'

import { childrenByLocalName, element, renderDocument, text } from '@skerry/xml'

import { hashPassword } from '../../apps/cloud/src/auth/password.ts'
import { CloudClient } from '../../apps/cloud/test/cloud-client.ts'
import { PASSWORD, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'

const NAME = 'olga'

/** Returns the secret of an API token of the new administrator, who has another one called yesterday. */
export async function addAdministrator({ db, cells, ca }: SmallCloud): Promise<string> {
  const { id: org } = await db
    .selectFrom('org')
    .select('id')
    .where('name', '=', 'eng')
    .executeTakeFirstOrThrow()
  const password = await hashPassword(PASSWORD, randomBytes(16))
  const role = 'organisation administrator'
  await db.insertInto('account').values({ org, name: NAME, role, password }).execute()
  const client = await CloudClient.logIn(cells[0]?.url ?? '', ca, `${NAME}@eng`, PASSWORD)
  const make = async (name: string): Promise<string> => {
    const body = renderDocument(element('AccessTokenParams', { name }))
    const {
      status,
      root,
      text: document,
    } = await client.ask('POST', '/api/session/tokens', {
      body,
    })
    const secret = text(childrenByLocalName(root, 'Token')[0])
    if (status !== 201 || secret === undefined) throw new Error(`token: ${status} ${document}`)
    return secret
  }
  await make('yesterday')
  return make('ansible')
}

/** VMs with their sizes and power, networks, users and metadata, as text: two moments are compared. */
export async function contentsOf({ db }: SmallCloud): Promise<string> {
  const vms = await db
    .selectFrom('vm')
    .select(['name', 'container_name', 'cpus', 'memory_mib', 'displayed_status'])
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
  const networks = await db
    .selectFrom('network')
    .select(['name', 'description', 'dns'])
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .execute()
  const users = await db
    .selectFrom('account')
    .select(['name', 'role', 'disabled'])
    .orderBy('name')
    .execute()
  // Those of a deleted VM are kept as long as its row.
  const metadata = await db
    .selectFrom('metadata')
    .innerJoin('vapp', 'vapp.id', 'metadata.vapp')
    .leftJoin('vm', 'vm.id', 'metadata.vm')
    .select(['metadata.key', 'metadata.value'])
    .where('vapp.deleted_at', 'is', null)
    .where('vm.deleted_at', 'is', null)
    .orderBy('metadata.key')
    .orderBy('metadata.value')
    .execute()
  return JSON.stringify({ vms, networks, users, metadata })
}
