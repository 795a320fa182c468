// Goal: stored workflows stay correct: versions never change, lists are complete, folders are validated.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { Postgres } from '@skerry/lab'
import { sql } from 'kysely'

import { startDatabases } from '../../cloud/test/cloud-database.ts'
import { parseListQuery } from '../src/query/workflow-list.ts'
import { addCategory, deleteCategory, findCategory } from '../src/store/categories.ts'
import { findExecution } from '../src/store/executions.ts'
import { countWorkflows, listWorkflows, type ListedWorkflow } from '../src/store/list-workflows.ts'
import { loadDefinition } from '../src/store/load-run.ts'
import { deleteWorkflow, findWorkflow, inUse, listVersions } from '../src/store/workflows.ts'
import {
  definitionText,
  openWorkflowDatabase,
  orgs,
  seedExecution,
  seedWorkflow,
  someone,
  type WorkflowDatabase,
  workflowTables,
} from './workflow-database.ts'

let postgres: Postgres & AsyncDisposable
let store: WorkflowDatabase
const [alice, bob, root] = [someone('eng'), someone('ops'), someone('System')]

before(async () => {
  postgres = await startDatabases(workflowTables)
  store = await openWorkflowDatabase(postgres)
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const isFault = (kind: Fault['kind']) => (error: unknown) =>
  error instanceof Fault && error.kind === kind

test('a version never changes, not even for the server itself; each import adds one', async () => {
  const first = await seedWorkflow(store, alice, { name: 'kept', version: '1.0.0' })
  const second = await seedWorkflow(store, alice, { ...first, folder: 'Library', version: '1.1.0' })
  await seedWorkflow(store, alice, { ...second, folder: 'Library' })
  const versions = await listVersions(store.db, { org: alice.org, id: first.id })
  assert.deepEqual(versions.map(({ version }) => version).toSorted(), ['1.0.0', '1.1.0'])
  const now = await store.as(alice, (tx) => findWorkflow(tx, first.id, alice))
  assert.deepEqual([now?.version, now?.digest], ['1.1.0', second.digest])
  assert.equal((await loadDefinition(store.db, first.digest)).text, definitionText('kept'))
  const change = sql`update workflow_version set text = 'other'`
  await assert.rejects(change.execute(store.db), /permission denied/)
  await assert.rejects(sql`delete from workflow_version`.execute(store.db), /permission denied/)
})

test('two organisations may have the same workflow id; a caller who sees both gets a conflict', async () => {
  const id = randomUUID()
  for (const principal of [alice, bob]) await seedWorkflow(store, principal, { id, name: 'twin' })
  assert.equal((await store.as(bob, (tx) => findWorkflow(tx, id, bob)))?.org, orgs.ops)
  await assert.rejects(
    store.as(root, (tx) => findWorkflow(tx, id, root)),
    isFault('conflict'),
  )
})

test('a list read in parts is complete, in every order', async () => {
  const names = ['beta', 'Alpha', 'älpha', 'alpha', 'gamma', 'alpha 2']
  for (const [at, name] of names.entries()) {
    const folder = at % 2 === 0 ? 'Parts/even' : 'Parts/odd'
    await seedWorkflow(store, alice, { name, folder, tags: ['part', name], version: `1.${at}.0` })
  }
  for (const sortOrders of [
    '',
    '+name',
    '-name',
    'categoryName,-version',
    '-id',
    '-version,name',
  ]) {
    const query = parseListQuery({ tags: 'part', ...(sortOrders && { sortOrders }) })
    const read = (more: Parameters<typeof listWorkflows>[2]) =>
      store.as(alice, (tx) => listWorkflows(tx, query, more))
    const whole = await read({ limit: 100 })
    assert.equal(whole.length, names.length)
    const parts: ListedWorkflow[] = []
    for (;;) {
      const last = parts.at(-1)
      const part = await read({ limit: 2, ...(last && { after: last }) })
      if (part.length === 0) break
      parts.push(...part)
    }
    assert.deepEqual(parts, whole, sortOrders)
    assert.deepEqual(await read({ limit: 2, offset: 3 }), whole.slice(3, 5), sortOrders)
  }
})

test('all conditions must match, and an invalid one lists the known attributes', async () => {
  const count = (conditions: string, tags?: string) =>
    store.as(alice, (tx) =>
      countWorkflows(tx, parseListQuery({ conditions, ...(tags !== undefined && { tags }) })),
    )
  await seedWorkflow(store, alice, { name: 'a, b = c', folder: 'Odd', tags: ['x', 'y'] })
  assert.equal(await count('name=a\\, b = c'), 1)
  assert.equal(await count('name~b =,categoryName=Odd'), 1)
  assert.equal(await count('name~b =,categoryName=Even'), 0)
  assert.equal(await count('name=A\\, b = c'), 0, 'case counts')
  assert.equal(await count('categoryName=Odd', 'x,y'), 1)
  assert.equal(await count('categoryName=Odd', 'x,z'), 0)
  assert.equal(await count('id=no uuid at all'), 0)
  assert.equal(await count('name~%'), 0, 'a value is never a pattern')
  assert.throws(() => parseListQuery({ conditions: 'owner=me' }), isFault('invalid'))
  assert.throws(() => parseListQuery({ conditions: 'name' }), isFault('invalid'))
  assert.throws(() => parseListQuery({ sortOrders: 'colour' }), isFault('invalid'))
  assert.throws(() => parseListQuery({ tags: 'x,'.repeat(40) }), isFault('invalid'))
})

test('a deleted workflow is not listed, its runs are kept, and an import restores it', async () => {
  const made = await seedWorkflow(store, alice, { name: 'gone', folder: 'Old' })
  const run = await seedExecution(store, alice, made)
  const find = () => store.as(alice, (tx) => findWorkflow(tx, made.id, alice))
  const row = (await find()) ?? assert.fail()
  assert.deepEqual((await store.as(alice, (tx) => inUse(tx, row))).runs, [run])
  await store.as(alice, (tx) => deleteWorkflow(tx, row))
  assert.equal(await find(), undefined)
  assert.equal((await findExecution(store.db, run))?.name, 'gone')
  await seedWorkflow(store, alice, { id: made.id, name: 'gone', folder: 'Old' })
  assert.equal((await find())?.path, 'Old')
})

test('folder names and depth are validated, and only empty folders are deleted', async () => {
  const made = await seedWorkflow(store, alice, { name: 'deep', folder: 'A/B/C' })
  const [folder] = [made.category]
  assert.equal(folder.path, 'A/B/C')
  await assert.rejects(
    store.as(alice, (tx) => deleteCategory(tx, folder)),
    isFault('conflict'),
  )
  const add = (name: string, parent = folder) =>
    store.as(alice, (tx) => addCategory(tx, { org: alice.org, parent, name }))
  const inside = await add('D')
  await assert.rejects(add('D'), isFault('conflict'))
  await assert.rejects(add('a/b'), isFault('invalid'))
  await assert.rejects(add(''), isFault('invalid'))
  await store.as(alice, (tx) => deleteCategory(tx, inside))
  assert.equal(await store.as(alice, (tx) => findCategory(tx, inside.id)), undefined)
  assert.equal(await store.as(bob, (tx) => findCategory(tx, folder.id)), undefined)
  await assert.rejects(
    seedWorkflow(store, alice, { name: 'too deep', folder: Array(20).fill('x').join('/') }),
    isFault('invalid'),
  )
})
