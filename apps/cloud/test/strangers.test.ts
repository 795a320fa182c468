// Goal: no address tells or does anything for whoever may not: no token, a bad one, another organisation's user.
// Method: every row of the route table over HTTP, its names filled with things of ours, of theirs and of nobody.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { routes } from '../src/routes.ts'
import { instantiate, openDoor, type Ask, type Door } from './tenants-door.ts'

let door: Door
before(async () => {
  door = await openDoor()
})
after(() => door[Symbol.asyncDispose]())

const ask: Ask = (method, path, asked) => door.ask(method, path, asked)

const required: Readonly<Record<string, string>> = { runQuery: '?type=vm' }
const unknown: Readonly<Record<string, string>> = {
  org: '01980000-0000-7000-8000-00000000abcd',
  vdc: '01980000-0000-7000-8000-00000000abcd',
  template: 'vappTemplate-01980000-0000-7000-8000-00000000abcd',
  entity: 'vm-01980000-0000-7000-8000-00000000abcd',
  task: '01980000-0000-7000-8000-00000000abcd',
}

for (const row of routes) {
  const open = row.permission === 'anyone' || row.permission === 'login'
  test(`${row.method} ${row.path}: nothing without a token, nothing of another organisation`, async () => {
    const to = (ids: Readonly<Record<string, string>>) =>
      row.path.replace(/:(\w+)/g, (_, name: string) => {
        // If you are here because this failed: your path names a thing that this test has no example of. Add it to `unknown` and
        // to the ids of a tenant.
        const id = ids[name]
        assert.ok(id, `no example of :${name}`)
        return id
      }) + (required[row.name] ?? '')
    if (open) return
    for (const token of [undefined, 'bad', '']) {
      const answer = await ask(row.method, to(door.eng.ids), token === undefined ? {} : { token })
      assert.equal(answer.status, 401, String(token))
    }
    if (!row.path.includes(':')) return
    const nobodys = await ask(row.method, to(unknown), { token: door.eng.token })
    assert.equal(nobodys.status, 404, nobodys.text)
    const theirs = await ask(row.method, to(door.ops.ids), { token: door.eng.token })
    assert.deepEqual([theirs.status, theirs.text], [nobodys.status, nobodys.text])
    const whole = await ask(row.method, to({ ...door.ops.ids, entity: door.ops.vapp }), {
      token: door.eng.token,
    })
    assert.deepEqual([whole.status, whole.text], [nobodys.status, nobodys.text])
  })
}

test('a template of another organisation is as unknown as none', async () => {
  const path = `/api/vdc/${door.eng.ids['vdc']}/action/instantiateVAppTemplate`
  const tryIt = (template = '') =>
    ask('POST', path, {
      token: door.eng.token,
      body: instantiate('stolen', template.replace('vappTemplate-', ''), false),
    })
  const [theirs, nobodys] = [
    await tryIt(door.ops.ids['template']),
    await tryIt(unknown['template']),
  ]
  assert.equal(theirs.status, 400)
  assert.equal(theirs.text, nobodys.text)
  const foreign = await door.cloud.db
    .selectFrom('task')
    .select('id')
    .where('org', '=', door.ops.org)
    .where('operation', '!=', 'instantiate')
    .where('operation', '!=', 'create')
    .execute()
  assert.deepEqual(foreign, [], 'whatever was tried from outside, nothing was asked of them')
})
