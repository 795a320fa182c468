// Goal: the resources of an organisation can be found: catalogs, ids of every kind, tasks; names and metadata can be changed.
// Method: over HTTP, with a real Postgres.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { attribute, localName, readXml, text, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import {
  BASE,
  find,
  hrefOf,
  instantiate,
  linksOf,
  openTenantsApi,
  pathOf,
  read,
  type Answered,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const get = (path: string) => api.ask('GET', path, { token: api.eng.token })
const send = (method: string, path: string, body?: string) =>
  api.ask(method, path, { token: api.eng.token, ...(body !== undefined && { body }) })

test('links lead from the organisation to a template by its catalog', async () => {
  const org = read(await get(`/api/org/${api.eng.org}`))
  const link = find(org, 'Link').find((each) => attribute(each, 'type')?.endsWith('catalog+xml'))
  assert.equal(attribute(link, 'name'), 'main')
  const catalog = read(await get(pathOf(hrefOf(link))))
  const [entry] = find(catalog, 'CatalogItems', 'CatalogItem')
  const item = read(await get(pathOf(hrefOf(entry))))
  const [entity] = find(item, 'Entity')
  const template = read(await get(pathOf(hrefOf(entity))))
  assert.equal(localName(template.name), 'VAppTemplate')
  assert.equal(text(find(template, 'MemoryMB')[0]), '64')
})

test('a vdc lists its vApps and its templates', async () => {
  const vdc = read(await get(`/api/vdc/${api.eng.ids['vdc']}`))
  const names = find(vdc, 'ResourceEntities', 'ResourceEntity').map(
    (each) => attribute(each, 'name') ?? '',
  )
  assert.deepEqual(names.toSorted(), ['debian', 'first'])
})

test('a vdc with many vApps lists the first of them, their total, and a link to all', async () => {
  const { ids } = api.eng
  const path = `/api/vdc/${ids['vdc']}`
  const before = Number(attribute(find(read(await get(path)), 'ResourceEntities')[0], 'total'))
  await sql`insert into vapp (org, vdc, name, owner)
    select ${api.eng.org}, ${ids['vdc']}, 'many-' || n, 'alice' from generate_series(1, 1000) n`.execute(
    api.cloud.db,
  )
  const answer = await get(path)
  assert.ok(answer.text.length < 64 * 1024, `${answer.text.length} bytes`)
  const vdc = read(answer)
  const [entities] = find(vdc, 'ResourceEntities')
  assert.equal(attribute(entities, 'total'), String(before + 1000))
  const ofType = (type: string) =>
    find(vdc, 'ResourceEntities', 'ResourceEntity').filter((each) =>
      attribute(each, 'type')?.endsWith(type),
    )
  assert.deepEqual([ofType('vApp+xml').length, ofType('vAppTemplate+xml').length], [128, 1])
  const down = (name: string) =>
    hrefOf(find(vdc, 'Link').find((each) => attribute(each, 'name') === name))
  const all = read(await get(pathOf(down('vApp'))))
  assert.equal(attribute(all, 'total'), String(before + 1000 - 1))
  assert.equal(attribute(read(await get(pathOf(down('vAppTemplate')))), 'total'), '1')
  // A system administrator sees them too, by the query over all organisations, and none in their own organisation.
  const token = await api.enter(api.ops.org, 'system administrator')
  const seen = read(await api.ask('GET', path, { token }))
  const link = find(seen, 'Link').find((each) => attribute(each, 'name') === 'adminVApp')
  const found = read(await api.ask('GET', pathOf(hrefOf(link)), { token }))
  assert.equal(attribute(found, 'total'), String(before + 1000 - 1))
  await sql`delete from vapp where name like 'many-%'`.execute(api.cloud.db)
})

test('an id of any kind, as a URN or as in an href, is resolved to its document', async () => {
  const { ids, vapp } = api.eng
  const uuid = (id = '') => id.replace(/^[a-zA-Z]+-(?=[0-9a-f]{8}-)/, '')
  const known = [
    ids['entity'] ?? '',
    vapp,
    ids['template'] ?? '',
    `urn:skerry:vm:${uuid(ids['entity'])}`,
    `urn:skerry:vapp:${uuid(vapp)}`,
    `urn:skerry:org:${ids['org']}`,
    `urn:skerry:vdc:${ids['vdc']}`,
    `urn:skerry:task:${ids['task']}`,
    `urn:skerry:catalog:${ids['catalog']}`,
    `urn:skerry:catalogitem:${ids['catalogItem']}`,
    `urn:skerry:vapptemplate:${uuid(ids['template'])}`,
  ]
  for (const id of known) {
    const entity = read(await get(`/api/entity/${id}`))
    const urn = attribute(entity, 'id')
    assert.equal(attribute(entity, 'name'), urn)
    const document = read(await get(pathOf(linksOf(entity)['alternate'] ?? '')))
    assert.equal(attribute(document, 'id'), urn, id)
  }
  for (const id of [
    'urn:skerry:moon:1',
    'urn:skerry:vm:1',
    'constructor',
    `urn:x:toString:${ids['vdc']}`,
  ]) {
    assert.equal((await get(`/api/entity/${id}`)).status, 404, id)
  }
})

test('the session leads to the resolver, and an administrator to what they administer', async () => {
  const ofTenant = linksOf(read(await get('/api/session')))
  assert.equal(ofTenant['entityResolver'], `${BASE}/api/entity/`)
  const types = async (role: 'author' | 'organisation administrator') => {
    const token = await api.enter(api.eng.org, role)
    const session = read(await api.ask('GET', '/api/session', { token }))
    return find(session, 'Link').map((each) => attribute(each, 'type') ?? '')
  }
  const isAdmin = (type: string) => type.endsWith('admin.cloud+xml')
  assert.ok(!(await types('author')).some(isAdmin))
  assert.ok((await types('organisation administrator')).some(isAdmin))
})

test('tasks are listed newest first, without the parts of vApp tasks', async () => {
  const { vapp } = await api.cloud.addVms(2, 'POWERED_OFF')
  const task = read(await send('POST', `/api/vApp/vapp-${vapp}/power/action/powerOn`), 202)
  const list = read(await get(`/api/tasksList/${api.eng.org}`))
  const tasks = find(list, 'Task')
  assert.equal(hrefOf(tasks[0]), hrefOf(task))
  assert.equal(tasks.length, 2, 'this one, and the one that created the first vApp')
  assert.ok(linksOf(read(await get(`/api/org/${api.eng.org}`)))['down'])
})

const ended = (answer: Answered): void => {
  const task = read(answer, 202)
  assert.equal(attribute(task, 'status'), 'success')
  assert.ok(attribute(task, 'endTime'))
  assert.equal(answer.headers['location'], hrefOf(task))
}

test('a vApp and a VM are renamed; names are unique within their own scope', async () => {
  const { vapp, vms } = await api.cloud.addVms(2, 'POWERED_OFF')
  const [one, other] = vms as [VmId, VmId]
  const put = (id: string, body: string) => send('PUT', `/api/vApp/${id}`, body)
  ended(await put(`vapp-${vapp}`, '<VApp name="shop"><Description>x</Description></VApp>'))
  ended(await put(`vm-${one}`, '<Vm name="web &amp; more"/>'))
  assert.equal(attribute(read(await get(`/api/vApp/vapp-${vapp}`)), 'name'), 'shop')
  assert.equal(attribute(read(await get(`/api/vApp/vm-${one}`)), 'name'), 'web & more')
  assert.equal((await put(`vm-${other}`, '<Vm name="web &amp; more"/>')).status, 409)
  assert.equal((await put(`vapp-${vapp}`, '<VApp name="first"/>')).status, 409)
  for (const wrong of ['', '<Vm/>', '<Vm name=""/>', '<Org name="a"/>', '<Vm name="a&#9;b"/>']) {
    assert.equal((await put(`vm-${one}`, wrong)).status, 400, wrong)
  }
  assert.equal((await send('DELETE', `/api/vApp/vm-${other}`)).status, 202)
  assert.equal((await put(`vm-${other}`, '<Vm name="late"/>')).status, 409)
  const links = linksOf(read(await get(`/api/vApp/vm-${other}`)))
  assert.equal(links['edit'], undefined)
})

const entry = (key: string, value: string) =>
  `<MetadataEntry><Key>${key}</Key>${value}</MetadataEntry>`
const typed = (type: string, value: string) =>
  `<TypedValue xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="Metadata${type}Value"><Value>${value}</Value></TypedValue>`

test('metadata is merged, has types since 5.1 and is text before, and is read and deleted by key', async () => {
  const [vm] = (await api.cloud.addVms(1, 'POWERED_OFF')).vms
  const path = `/api/vApp/vm-${vm}/metadata`
  const body = `<Metadata>${entry('a/b c?', '<Value>plain</Value>')}${entry('rank', typed('Number', '7'))}${entry('on', typed('Boolean', 'true'))}${entry('at', typed('DateTime', '2026-01-02T03:04:05Z'))}</Metadata>`
  ended(await send('POST', path, body))
  ended(await send('POST', path, `<Metadata>${entry('rank', typed('Number', '8'))}</Metadata>`))
  const young = read(await get(path))
  const entries = find(young, 'MetadataEntry')
  assert.deepEqual(
    entries.map((each) => text(find(each, 'Key')[0])),
    ['a/b c?', 'at', 'on', 'rank'],
  )
  assert.equal(text(find(entries[3] ?? young, 'TypedValue', 'Value')[0]), '8')
  const old = await api.ask('GET', path, {
    token: api.eng.token,
    headers: { accept: 'application/*+xml;version=1.5' },
  })
  const values = find(readXml(old.text), 'MetadataEntry', 'Value').map((each) => text(each))
  assert.deepEqual(values, ['plain', '2026-01-02T03:04:05Z', 'true', '8'])
  const one = pathOf(hrefOf(entries[0]))
  assert.equal(text(find(read(await get(one)), 'TypedValue', 'Value')[0]), 'plain')
  ended(await send('PUT', one, '<MetadataValue><Value>new</Value></MetadataValue>'))
  assert.ok((await get(one)).text.includes('new'))
  ended(await send('DELETE', one))
  assert.equal((await get(one)).status, 404)
  assert.equal((await send('DELETE', one)).status, 404)
  const other = read(await get(`/api/vApp/${api.eng.vapp}/metadata`))
  assert.deepEqual(find(other, 'MetadataEntry'), [], 'each resource has its own')
})

test('invalid metadata is rejected, and its size is limited', async () => {
  const [vm] = (await api.cloud.addVms(1, 'POWERED_OFF')).vms
  const path = `/api/vApp/vm-${vm}/metadata`
  const wrong = [
    '<Metadata><MetadataEntry/></Metadata>',
    `<Metadata>${entry('', '<Value>x</Value>')}</Metadata>`,
    `<Metadata>${entry('k'.repeat(257), '<Value>x</Value>')}</Metadata>`,
    `<Metadata>${entry('k', typed('Number', 'seven'))}</Metadata>`,
    `<Metadata>${entry('k', typed('Moon', 'x'))}</Metadata>`,
    `<Metadata>${entry('k', `<Value>${'x'.repeat(20_000)}</Value>`)}</Metadata>`,
    `<Metadata>${entry('k', '<Domain>SYSTEM</Domain><Value>x</Value>')}</Metadata>`,
    '<Other/>',
  ]
  for (const body of wrong) assert.equal((await send('POST', path, body)).status, 400, body)
  const many = Array.from({ length: 201 }, (_, at) => entry(`k${at}`, '<Value>x</Value>'))
  assert.equal((await send('POST', path, `<Metadata>${many.join('')}</Metadata>`)).status, 409)
  assert.deepEqual(find(read(await get(path)), 'MetadataEntry'), [])
})

test('a vApp is composed from templates; VMs are added to it and deleted from it', async () => {
  const { ids } = api.eng
  const source = (name?: string) =>
    `<SourcedItem><Source href="${BASE}/api/vAppTemplate/${ids['template']}"${name === undefined ? '' : ` name="${name}"`}/></SourcedItem>`
  const compose = (body: string) => send('POST', `/api/vdc/${ids['vdc']}/action/composeVApp`, body)
  const body = (inside: string) =>
    `<ComposeVAppParams name="composed">${inside}</ComposeVAppParams>`
  const made = read(await compose(body(source() + source('db') + source())), 201)
  const vms = find(made, 'Children', 'Vm')
  const namesOf = (nodes: readonly Element[]) =>
    nodes.map((each) => attribute(each, 'name') ?? '').toSorted()
  assert.deepEqual(namesOf(vms), ['db', 'debian', 'debian-2'])
  assert.equal(attribute(find(made, 'Tasks', 'Task')[0], 'operationName'), 'vdcComposeVapp')
  assert.equal((await compose(body(''))).status, 409, 'its name is taken')
  const twice = `<ComposeVAppParams name="other">${source('a')}${source('a')}</ComposeVAppParams>`
  assert.equal((await compose(twice)).status, 409)
  const empty = read(await compose('<ComposeVAppParams name="empty"/>'), 201)
  assert.equal(attribute(empty, 'status'), '1')

  const path = pathOf(linksOf(made)['recompose'] ?? '')
  const change = (inside: string) =>
    send('POST', path, `<RecomposeVAppParams>${inside}</RecomposeVAppParams>`)
  await sql`update vm set status = 'POWERED_OFF', queue_target = null where name = 'db'`.execute(
    api.cloud.db,
  )
  const db = vms.find((each) => attribute(each, 'name') === 'db')
  const task = read(await change(`${source('web')}<DeleteItem href="${hrefOf(db)}"/>`), 202)
  assert.equal(attribute(task, 'operationName'), 'vdcRecomposeVapp')
  const after = read(await get(pathOf(hrefOf(made))))
  assert.deepEqual(namesOf(find(after, 'Children', 'Vm')), ['db', 'debian', 'debian-2', 'web'])
  const operations = await api.cloud.db
    .selectFrom('task')
    .select('operation')
    .where('parent', '=', (attribute(task, 'id') ?? '').slice(-36) as never)
    .execute()
  assert.deepEqual(operations.map(({ operation }) => operation).toSorted(), ['create', 'delete'])
  const foreign = `<DeleteItem href="${BASE}/api/vApp/${api.ops.ids['entity']}"/>`
  assert.equal((await change(foreign)).status, 400)
  assert.equal((await change(`<DeleteItem href="${hrefOf(db)}"/>`)).status, 409, 'it is going')
  assert.equal((await change('<SourcedItem/>')).status, 400)
})

test('a vApp without VMs is created and deleted immediately, each by a task that has already ended', async () => {
  const body = '<ComposeVAppParams name="hollow"/>'
  const compose = () => send('POST', `/api/vdc/${api.eng.ids['vdc']}/action/composeVApp`, body)
  const made = read(await compose(), 201)
  const [task] = find(made, 'Tasks', 'Task')
  assert.deepEqual(
    [attribute(task, 'status'), attribute(task, 'endTime') !== undefined],
    ['success', true],
  )
  const href = pathOf(linksOf(made)['remove'] ?? '')
  ended(await send('DELETE', href))
  assert.equal((await get(href)).status, 404)
  const { rows } = await sql<{ kind: string }>`
    select kind from event where vapp = ${href.slice(-36)} order by seq`.execute(api.cloud.db)
  const once = ['task.queued', 'task.success']
  assert.deepEqual(
    rows.map(({ kind }) => kind),
    [...once, ...once],
  )
  read(await compose(), 201)
})

test('a vApp whose creation is canceled before it began is FAILED_CREATION, and can be deleted', async () => {
  const { ids } = api.eng
  const body = instantiate('given-up', (ids['template'] ?? '').replace('vappTemplate-', ''), true)
  const path = `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`
  const made = read(await send('POST', path, body), 201)
  const [task] = find(made, 'Tasks', 'Task')
  assert.equal((await send('POST', `${pathOf(hrefOf(task))}/action/cancel`)).status, 204)
  assert.equal(attribute(read(await get(pathOf(hrefOf(task)))), 'status'), 'canceled')
  const after = read(await get(pathOf(hrefOf(made))))
  const [vm] = find(after, 'Children', 'Vm')
  assert.deepEqual([attribute(after, 'status'), attribute(vm, 'status')], ['-1', '-1'])
  assert.equal((await send('DELETE', pathOf(linksOf(after)['remove'] ?? ''))).status, 202)
})

test('a task still names its owner after that was deleted, but no longer links to it', async () => {
  const { vapp, vms } = await api.cloud.addVms(1, 'POWERED_ON')
  for (const [kind, id] of [
    ['vm', vms[0]],
    ['vapp', vapp],
  ] as const) {
    const path = `/api/vApp/${kind}-${id}`
    const task = hrefOf(read(await send('POST', `${path}/power/action/powerOff`), 202))
    const owners = async () => {
      const list = find(read(await get(`/api/tasksList/${api.eng.org}`)), 'Task')
      const listed = list.filter((each) => hrefOf(each) === task)
      return [read(await get(pathOf(task))), ...listed].flatMap((each) => find(each, 'Owner'))
    }
    const there = await owners()
    assert.deepEqual(there.map(hrefOf), [`${BASE}${path}`, `${BASE}${path}`])
    await sql`update ${sql.table(kind)} set deleted_at = clock_timestamp() where id = ${id}`.execute(
      api.cloud.db,
    )
    const after = await owners()
    assert.deepEqual(after.map(hrefOf), ['', ''])
    for (const name of ['name', 'id', 'type']) {
      const said = attribute(there[0], name)
      assert.deepEqual(
        after.map((each) => attribute(each, name)),
        [said, said],
      )
    }
  }
})
