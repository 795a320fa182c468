// The row of a role of an organisation.
import type { OrgId } from '@skerry/vm'

import type { Permission } from '../src/domain/roles.ts'
import type { CloudDatabase } from './cloud-database.ts'

export const addRoleRow = (
  db: CloudDatabase['db'],
  org: OrgId,
  name: string,
  rights: readonly Permission[] = ['session', 'org:read', 'vm:read'],
): Promise<{ readonly id: string }> =>
  db
    .insertInto('org_role')
    .values({ org, name, permissions: [...rights] })
    .returning('id')
    .executeTakeFirstOrThrow()
