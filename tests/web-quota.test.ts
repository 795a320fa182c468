// Goal: the form of a quota contains every limit, because a limit that it does not send is removed.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { quotaRowsOf } from '../apps/web/src/model/quota.ts'
import type { CloudDocuments } from '../packages/api-client/src/documents.gen.ts'

test('the form of a quota has every limit of the API', () => {
  // A limit that the API gets is missing here, for the type checker.
  const quota: Required<CloudDocuments['Quota']> = {
    vms: 1,
    runningVms: 2,
    cpus: 3,
    memoryMB: 4,
    storageMB: 5,
    networks: 6,
    edgeGateways: 7,
    externalAddresses: 8,
  }
  const rows = quotaRowsOf({
    name: 'lab',
    href: '/api/admin/org/1',
    isEnabled: true,
    quota,
    used: quota,
  })
  assert.deepEqual(Object.fromEntries(rows.map(({ key, limit }) => [key, limit])), quota)
  assert.deepEqual(Object.fromEntries(rows.map(({ key, used }) => [key, used])), quota)
})
