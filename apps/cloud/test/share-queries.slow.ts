// Goal: a query shows a caller without the right what is shared with them, and nothing of the rest. Method: every type, every
// attribute in filters and orders, pages by number and by cursor, and every format, over HTTP.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, localName, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { recordTypes } from '../src/query/record-types.ts'
import { addSharedCatalog, addSharedVapp, addUserWith } from './share-objects.ts'
import { addShareRow, removeShareRows } from './share-row.ts'
import {
  find,
  hrefOf,
  openTenantsApi,
  pathOf,
  read,
  type Answered,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
let admin: string
before(async () => {
  api = await openTenantsApi()
  admin = await api.enter(api.eng.org, 'organisation administrator')
})
after(() => api[Symbol.asyncDispose]())

const ask = (method: string, path: string, token: string) => api.ask(method, path, { token })
const statusOf = async (method: string, path: string, token: string) =>
  (await ask(method, path, token)).status

const records = (root: Element): Element[] =>
  root.children.filter(
    (each): each is Element => typeof each !== 'string' && localName(each.name) !== 'Link',
  )
const hrefsIn = async (answer: Answered): Promise<string[]> =>
  records(read(answer)).map((each) => pathOf(hrefOf(each)))

test('queries show the caller without the right what is shared, whatever the filter, order, page and format, and nothing else', async () => {
  await sql`delete from share where account is null and provider is null`.execute(api.cloud.db)
  const [user, vapp, catalog] = [
    await addUserWith(api),
    await addSharedVapp(api),
    await addSharedCatalog(api),
  ]
  await addSharedVapp(api)
  await addSharedCatalog(api)
  await addShareRow(api.cloud.db, user, { vapp: vapp.id }, 'ReadOnly')
  await addShareRow(api.cloud.db, user, { catalog: catalog.id }, 'ReadOnly')
  const made = await ask('POST', `${vapp.path}/power/action/powerOn`, admin)
  const mine: Readonly<Record<string, readonly string[]>> = {
    vm: [vapp.vm],
    vApp: [vapp.path],
    catalog: [catalog.path],
    vAppTemplate: [catalog.templatePath],
  }
  const run = (rest: string) => ask('GET', `/api/query?${rest}`, user.token)
  const task = pathOf(String(made.headers['location']))
  const tasks = await hrefsIn(await run('type=task'))
  assert.ok(tasks.includes(task))
  for (const each of tasks) assert.equal(await statusOf('GET', each, user.token), 200, each)
  for (const [type, hrefs] of Object.entries({ ...mine, task: tasks })) {
    const { fields, references } = recordTypes.get(type) ?? assert.fail(type)
    const variants = [
      '',
      '&pageSize=1',
      '&format=idrecords',
      ...(references ? ['&format=references'] : []),
    ]
    for (const name of Object.keys(fields)) variants.push(`&sortAsc=${name}`, `&sortDesc=${name}`)
    for (const name of Object.keys(fields)) {
      const { is } = fields[name] ?? assert.fail(name)
      const values: readonly string[] =
        is === 'number'
          ? ['=ge=-1', '=le=999999999']
          : is === 'time'
            ? ['=ge=2000-01-01T00:00:00Z']
            : is === 'boolean'
              ? ['==true', '==false']
              : is === 'reference'
                ? ['!=01980000-0000-7000-8000-00000000abcd']
                : ['==*', '!=x']
      const filters = values.map((value) => `${name}${value}`)
      filters.push(`${filters[0]},${filters.at(-1)}`, `(${filters[0]},name==*);${filters.at(-1)}`)
      for (const filter of filters.filter((each) => !each.includes('name==*') || fields['name'])) {
        variants.push(`&filter=${encodeURIComponent(filter)}`)
      }
    }
    for (const variant of variants) {
      const answer = await run(`type=${type}${variant}`)
      const root = read(answer)
      const total = Number(attribute(root, 'total'))
      assert.ok(total <= hrefs.length, `${type}${variant}: ${total}`)
      for (const each of records(root)) {
        const id = (attribute(each, 'href') ?? attribute(each, 'id') ?? '').slice(-36)
        assert.ok(
          hrefs.some((href) => href.endsWith(id)),
          `${type}${variant}: ${answer.text}`,
        )
      }
    }
    const [whole] = [read(await run(`type=${type}&pageSize=128`))]
    assert.equal(Number(attribute(whole, 'total')), hrefs.length, type)
    // Page by page, by number and by cursor, each is there once.
    const seen: string[] = []
    let next: string | undefined = `/api/query?type=${type}&pageSize=1`
    while (next !== undefined) {
      const page: Element = read(await ask('GET', next, user.token))
      seen.push(...records(page).map((each) => pathOf(hrefOf(each))))
      const link = find(page, 'Link').find((each) => attribute(each, 'rel') === 'nextPage')
      next = link && pathOf(hrefOf(link))
    }
    assert.deepEqual(seen.toSorted(), hrefs.toSorted(), type)
    assert.equal(attribute(read(await run(`type=${type}&page=99`)), 'total'), String(hrefs.length))
  }
  for (const [type, { shared }] of recordTypes) {
    assert.equal((await run(`type=${type}`)).status, shared ? 200 : 403, type)
  }
  for (const path of [
    '/api/vms/query',
    '/api/vApps/query',
    '/api/vAppTemplates/query',
    '/api/catalogs/query',
  ]) {
    assert.equal((await hrefsIn(await ask('GET', path, user.token))).length, 1, path)
  }
  const links = find(read(await run('')), 'Link').map((each) => attribute(each, 'name') ?? '')
  assert.deepEqual([...new Set(links)].toSorted(), [
    'catalog',
    'task',
    'vApp',
    'vAppTemplate',
    'vm',
  ])
  await removeShareRows(api.cloud.db, user, { vapp: vapp.id })
  assert.deepEqual(await hrefsIn(await run('type=vm')), [])
  assert.deepEqual(await hrefsIn(await run('type=task')), [])
  await removeShareRows(api.cloud.db, user, { catalog: catalog.id })
  for (const rest of ['', 'type=vm', 'type=none', 'type=catalog&filter=((']) {
    assert.equal((await run(rest)).status, 403, rest)
  }
})
