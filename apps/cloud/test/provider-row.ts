// The row of an identity server that no test asks: nothing listens at its address.
import type { OrgId } from '@skerry/vm'

import { seal, type CloudDatabase } from './cloud-database.ts'

/** It is disabled, so that logins do not ask it. */
export async function addProviderRow(
  db: CloudDatabase['db'],
  org: OrgId,
  name: string,
): Promise<string> {
  const base = 'dc=corp,dc=example'
  const settings = {
    urls: ['ldaps://127.0.0.1:1'],
    startTls: false,
    reader: `cn=reader,${base}`,
    people: { base, filter: '(objectClass=inetOrgPerson)', name: 'uid', subject: 'entryUUID' },
    groups: { base, member: 'member', name: 'cn', nested: 'levels' },
  }
  const { id } = await db
    .insertInto('identity_provider')
    .values({
      org,
      name,
      kind: 'ldap',
      settings: JSON.stringify(settings),
      sealed: seal.close('secret', `identity provider ${org}/${name}`),
      disabled: true,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
