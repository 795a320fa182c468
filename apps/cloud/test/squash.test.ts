// Goal: migrations/0001-cloud.sql makes the same database as all migrations before 0.1.0 together. Method: apply those, which are
// kept in squash/, rename with squash/renames.sql, and compare everything that the system catalog knows with a new database.
// If you are here because this failed: a later change belongs into a migration of its own, 0002 or higher.
import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'
import { sql } from 'kysely'

import { catalogAfter } from '../../../packages/postgres/test/catalog.ts'
import { startDatabases } from './cloud-database.ts'

const BEFORE = join(import.meta.dirname, 'squash')
const NOW = [
  join(import.meta.dirname, '../../../packages/postgres/migrations/0001-fencing-token.sql'),
  join(import.meta.dirname, '../migrations/0001-cloud.sql'),
]

/** What the texts of functions say now: old, new. Columns in them do not follow a rename. */
const said: readonly (readonly [RegExp, string])[] = [
  [/'debt'/g, "'pending-undo'"],
  [/\bdebt\b/g, 'pending_undo'],
  [/\blend\b/g, 'hold'],
  [/\bshown\b/g, 'displayed_status'],
  [/\bfate\b/g, 'lost_reason'],
  [/\bwhat\b/g, 'details'],
  [/\bplace\b/g, 'position'],
  [/\blisted\b/g, 'list_session'],
  [/\bcancel\b/g, 'cancel_requested'],
  [/\bcommitted\b/g, 'past_no_return'],
  [/\bsent_on\b/g, 'ever_started'],
  [/\brings\b/g, 'wake_attempts'],
  [/\btold\b/g, 'given'],
  [/\btell_console\b/g, 'emit_console_event'],
  [/\btell_closed\b/g, 'emit_console_closed'],
  [/\bwall_event_part\b/g, 'protect_event_part'],
  [/the VM is not there any more/g, 'the VM is lost'],
  [/the VM was started \w+/g, 'the VM was restarted'],
  [/has no right to this screen any more/g, 'has no permission for this screen'],
]

const rows = [
  sql<{ line: string }>`select 'role ' || role || ' ' || everywhere as line from console_role`,
  sql<{ line: string }>`select 'cloud ' || (to_jsonb(cloud) - 'id')::text as line from cloud`,
]

let postgres: Postgres
before(async () => {
  postgres = await startDatabases('nothing')
})
after(() => postgres[Symbol.asyncDispose]())

test('the squashed migration makes what the migrations before it made', async () => {
  const files = (await readdir(BEFORE)).filter((name) => /^\d/.test(name)).sort()
  assert.equal(files.length, 22)
  const earlier = [...files, 'renames.sql'].map((name) => join(BEFORE, name))
  const [old, now] = [
    await catalogAfter(postgres, earlier, rows),
    await catalogAfter(postgres, NOW, rows),
  ]
  const renamed = old.map((line) =>
    line.startsWith('function ')
      ? said.reduce((text, [from, to]) => text.replaceAll(from, to), line)
      : line,
  )
  assert.ok(now.length > 700, String(now.length))
  const [known, made] = [new Set(renamed), new Set(now)]
  assert.deepEqual(
    {
      missing: renamed.filter((line) => !made.has(line)),
      added: now.filter((line) => !known.has(line)),
    },
    { missing: [], added: [] },
  )
})
