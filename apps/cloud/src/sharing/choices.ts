// Who changes a vApp by a share alone puts into it only what they may read otherwise.
import { Fault } from '@skerry/fault'
import type { OrgId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { may, mayEverywhere, type Principal } from '../domain/authorize.ts'
import { withAccess } from './shared-access.ts'

const byShareAlone = (principal: Principal): boolean => !mayEverywhere(principal, 'vm:edit')

/** An unreadable template looks like an unknown one. */
export async function requireTemplates(
  db: Kysely<CloudTables>,
  principal: Principal,
  org: OrgId,
  templates: readonly string[],
): Promise<void> {
  if (!byShareAlone(principal)) return
  for (const template of new Set(templates)) {
    if (may(await withAccess(db, principal, org, { template }), 'org:read')) continue
    throw new Fault('invalid', 'template not found in this organisation')
  }
}

/** Other networks than those that the VM is on. */
export function requireNetworks(
  principal: Principal,
  wanted: readonly string[],
  before: readonly string[],
): void {
  if (!byShareAlone(principal) || mayEverywhere(principal, 'network:read')) return
  if (wanted.every((each) => before.includes(each))) return
  throw new Fault(
    'forbidden',
    `the role ${principal.role} lacks the right network:read: by a share alone it cannot choose other networks`,
    { hint: 'leave the networks as they are, or ask who shared the vApp' },
  )
}
