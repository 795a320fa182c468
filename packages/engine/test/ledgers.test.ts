// Goal: vmd reads every ledger that an earlier vmd of this host wrote.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { test } from 'node:test'

import type { VmId } from '@skerry/vm'

import { Ledgers } from '../src/orders/ledgers.ts'
import { temporaryDirectory } from './temporary-directory.ts'

test('a ledger in which the VM spec still has its first name is read', async () => {
  await using directory = await temporaryDirectory()
  const kept = { vm: 'one', incarnation: '3', highest: '7', task: 't', results: {}, begun: [] }
  const text = JSON.stringify({ format: 1, ...kept, deed: { name: 'web' } })
  await writeFile(directory.at('one.json'), text)
  const ledgers = await Ledgers.load(directory.path)
  assert.deepEqual(ledgers.get('one' as VmId), { ...kept, spec: { name: 'web' } })
})
