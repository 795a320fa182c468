// Goal: workflow requests of clients of this API get the expected responses: lists, single workflows, archives, imports.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { attribute, child, children, find, text, type Element } from '@skerry/xml'

import { BASE, openWorkflowApi, readAnswer, readJson, type WorkflowApi } from './workflow-api.ts'
import { definitionText, seedWorkflow } from './workflow-database.ts'

const run = promisify(execFile)
let api: WorkflowApi
before(async () => {
  api = await openWorkflowApi()
})
after(() => api[Symbol.asyncDispose]())

interface ListJson {
  readonly link: readonly {
    readonly rel: string
    readonly href: string
    readonly attributes: readonly { readonly name: string; readonly value: string }[]
  }[]
  readonly total?: number
  readonly start?: number
}

const list = async (query = '', principal = api.eng.principal) =>
  readJson<ListJson>(
    await api.ask('GET', `/api/workflows${query}`, { as: principal, accept: 'application/json' }),
  )
const namesIn = ({ link }: ListJson) =>
  link.map(({ attributes }) => attributes.find(({ name }) => name === 'name')?.value)

test('the list describes each workflow as clients read it, in both formats', async () => {
  const { principal, ids } = api.eng
  const { link, total } = await list('?conditions=name=Send Hello'.replace(' ', '%20'))
  assert.equal(total, 1)
  const href = `${BASE}/api/workflows/${ids['workflow']}/`
  assert.deepEqual([link[0]?.rel, link[0]?.href], ['down', href])
  const reported = Object.fromEntries(
    link[0]?.attributes.map(({ name, value }) => [name, value]) ?? [],
  )
  assert.deepEqual(reported, {
    id: ids['workflow'],
    name: 'Send Hello',
    description: 'Says hello.',
    type: 'Workflow',
    version: '1.0.0',
    canExecute: 'true',
    canEdit: 'true',
    customIcon: 'false',
    categoryName: 'Mail',
    itemHref: href,
    globalTags: 'tag:mail',
    categoryHref: `${BASE}/api/catalog/System/WorkflowCategory/${ids['category']}/`,
  })
  const xml = readAnswer(
    await api.ask('GET', '/api/workflows?conditions=name~Hello', { as: principal }),
  )
  assert.deepEqual([xml.name, attribute(xml, 'total')], ['inventory-items', '1'])
  const [only] = children(xml, 'link')
  const inXml = children(child(only, 'attributes'), 'attribute').map((each) => [
    attribute(each, 'name'),
    attribute(each, 'value'),
  ])
  assert.deepEqual(Object.fromEntries(inXml), reported)
  const reader = await list('', api.enter('eng', 'console only'))
  const rights = reader.link[0]?.attributes.filter(({ name }) => name.startsWith('can'))
  assert.deepEqual(
    rights?.map(({ value }) => value),
    ['false', 'false'],
  )
})

test('the whole list is returned by default, in one or several parts, and pages are consecutive', async () => {
  const principal = api.enter('eng', 'author')
  const names = Array.from({ length: 1203 }, (_, at) => `bulk ${String(at).padStart(4, '0')} <&"'`)
  await Promise.all(
    [0, 1, 2, 3].map(async (of) => {
      for (let at = of; at < names.length; at += 4) {
        await seedWorkflow(api.store, principal, { name: names[at] ?? '', folder: 'Bulk' })
      }
    }),
  )
  const all = await list('?conditions=categoryName=Bulk')
  assert.equal(all.total, names.length)
  assert.deepEqual(namesIn(all), names)
  const xml = readAnswer(
    await api.ask('GET', '/api/workflows?conditions=categoryName=Bulk', { as: principal }),
  )
  assert.equal(children(xml, 'link').length, names.length)
  for (const path of ['/api/catalog/System/Workflow', '/api/inventory/System/Workflows/']) {
    const same = await api.ask('GET', `${path}?conditions=categoryName=Bulk`, { as: principal })
    assert.equal(children(readAnswer(same), 'link').length, names.length)
  }
  const paged: (string | undefined)[] = []
  for (let start = 0; start < names.length; start += 100) {
    const page = await list(`?conditions=categoryName=Bulk&maxResult=100&startIndex=${start}`)
    assert.deepEqual([page.total, page.start], [names.length, start])
    paged.push(...namesIn(page))
  }
  assert.deepEqual(paged, names)
  const down = await list(
    '?conditions=categoryName=Bulk&maxResult=3&sortOrders=-name&keys=name,id&queryCount=false',
  )
  assert.deepEqual(namesIn(down), names.toReversed().slice(0, 3))
  assert.equal(down.total, undefined)
  assert.equal(down.link[0]?.attributes.length, 2)
  assert.deepEqual((await list('?conditions=name=nothing')).link, [])
  assert.deepEqual((await list('?maxResult=0')).link, [])
  const big = await list('?conditions=categoryName=Bulk&maxResult=700&startIndex=3')
  assert.deepEqual(namesIn(big), names.slice(3, 703))
})

test('one workflow has its links, its parameters and what clients of later releases need', async () => {
  const { principal, ids } = api.eng
  const path = `/api/workflows/${ids['workflow']}`
  const xml = readAnswer(await api.ask('GET', path, { as: principal }))
  assert.equal(attribute(xml, 'customized-icon'), 'false')
  const inputs = children(child(xml, 'input-parameters'), 'parameter')
  assert.deepEqual(
    inputs.map((each) => [attribute(each, 'name'), attribute(each, 'type')]),
    [
      ['name', 'string'],
      ['times', 'number'],
      ['word', 'SecureString'],
    ],
  )
  const rels = children(child(xml, 'relations'), 'link').map((each) => attribute(each, 'rel'))
  assert.deepEqual(rels.slice(0, 3), ['up', 'add', 'remove'])
  const json = readJson(await api.ask('GET', path, { as: principal, accept: 'application/json' }))
  assert.deepEqual(
    [json['id'], json['name'], json['version']],
    [ids['workflow'], 'Send Hello', '1.0.0'],
  )
  const relations = json['relations'] as { link: { href: string; rel: string }[] }
  for (const { href, rel } of relations.link) {
    if (rel !== 'down' && rel !== 'up') continue
    const { status } = await api.ask('GET', href.replace(BASE, ''), { as: principal })
    assert.equal(status, 200, href)
  }
})

const multipart = (bytes: Buffer | string, fields: Readonly<Record<string, string>> = {}) => {
  const boundary = `----${randomUUID()}`
  const parts = Object.entries(fields).map(
    ([name, value]) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.workflow"\r\nContent-Type: application/zip\r\n\r\n`
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([
      ...parts.map((each) => Buffer.from(each)),
      Buffer.from(head),
      Buffer.from(bytes),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]),
  }
}
const fieldsOf = (root: Element) =>
  Object.fromEntries(children(root).map((each) => [each.name, text(each)]))

test('an archive is named NAME.workflow, unpacks anywhere, and is byte-identical wherever it was imported', async (t) => {
  const source = `${definitionText('exported')}\n# Grüße\n`.replace(
    '  version:',
    '  title: Exported Söurce\n  version:',
  )
  const made = await api.ask('POST', '/api/workflows', {
    as: api.eng.principal,
    ...multipart(source),
  })
  const { id, result, category } = fieldsOf(readAnswer(made))
  assert.deepEqual([result, category], ['created', 'Workflows'])
  const fetch = (principal = api.eng.principal, headers = {}) =>
    api.ask('GET', `/api/workflows/${id}`, { as: principal, accept: 'application/zip', headers })
  const first = await fetch()
  assert.deepEqual([first.status, first.headers['content-type']], [200, 'application/zip'])
  assert.equal(
    first.headers['content-disposition'],
    `attachment; filename="Exported S_urce.workflow"; filename*=UTF-8''Exported%20S%C3%B6urce.workflow`,
  )
  const again = await fetch(api.eng.principal, { 'if-none-match': String(first.headers['etag']) })
  assert.deepEqual([again.status, again.text], [304, ''])
  const other = await fetch(api.eng.principal, { 'if-none-match': '"other"' })
  assert.ok(other.bytes.equals(first.bytes))
  // Into an organisation that has nothing of it.
  const moved = await api.ask('POST', '/api/workflows', {
    as: api.ops.principal,
    ...multipart(first.bytes),
  })
  assert.deepEqual(fieldsOf(readAnswer(moved))['id'], id)
  assert.ok((await fetch(api.ops.principal)).bytes.equals(first.bytes), 'byte-identical')
  const dir = await mkdtemp(join(tmpdir(), 'skerry-archive-'))
  t.after(() => rm(dir, { recursive: true, force: true }))
  await writeFile(join(dir, 'a.zip'), first.bytes)
  const { stdout } = await run('unzip', ['-p', join(dir, 'a.zip'), 'workflow.yaml'])
  assert.equal(stdout, source)
})

test('an import reports what it did, would do, or the errors with their lines', async () => {
  const principal = api.enter('eng', 'author')
  const post = (body: string, query = '', fields = {}) =>
    api.ask('POST', `/api/workflows${query}`, { as: principal, ...multipart(body, fields) })
  const dry = fieldsOf(readAnswer(await post(definitionText('imported'), '?dryRun=true')))
  assert.deepEqual([dry['result'], dry['dry-run']], ['created', 'true'])
  assert.equal((await list('?conditions=name=imported')).total, 0, 'nothing is stored')
  const made = fieldsOf(readAnswer(await post(definitionText('imported'))))
  assert.equal(made['result'], 'created')
  assert.equal(fieldsOf(readAnswer(await post(definitionText('imported'))))['result'], 'unchanged')
  const newer = definitionText('imported', '1.1.0')
  assert.equal((await post(newer)).status, 409)
  const changed = fieldsOf(readAnswer(await post(newer, '', { overwrite: 'true' })))
  assert.deepEqual(
    [changed['result'], changed['id'], changed['previous-version']],
    ['updated', made['id'], '1.0.0'],
  )
  const versions = await api.ask('GET', `/api/workflows/${made['id']}/versions`, { as: principal })
  assert.equal(children(readAnswer(versions), 'version').length, 2)
  const wrong = definitionText('imported').replace('set:', 'teleport:')
  const refused = readAnswer(await post(wrong), 400)
  const [complaint] = children(child(refused, 'complaints'), 'complaint')
  assert.equal(attribute(complaint, 'line'), '8', JSON.stringify(refused))
  const json = readJson<{ complaints: { line: number }[]; code: string }>(
    await api.ask('POST', '/api/workflows', {
      as: principal,
      accept: 'application/json',
      ...multipart(wrong),
    }),
    400,
  )
  assert.deepEqual([json.code, json.complaints[0]?.line], ['invalid', 8])
  for (const body of ['PK not a zip', 'just text', '']) {
    assert.equal((await post(body)).status, 400, body)
  }
  assert.equal((await post(definitionText('x'), `?categoryId=${randomUUID()}`)).status, 404)
  assert.equal(
    (await post(definitionText('x'), `?categoryId=${api.ops.ids['category']}`)).status,
    404,
  )
  const bare = await api.ask('POST', `/api/content/workflows/${api.eng.ids['category']}`, {
    as: principal,
    body: definitionText('bare'),
    headers: { 'content-type': 'application/yaml' },
  })
  assert.equal(fieldsOf(readAnswer(bare))['category'], 'Library/Mail')
})

test('a duplicate name in a folder and a file that is too large are rejected', async () => {
  const principal = api.enter('eng', 'author')
  await seedWorkflow(api.store, principal, { name: 'taken', folder: 'Workflows' })
  const titled = definitionText('other-name').replace('  version:', '  title: taken\n  version:')
  const answer = await api.ask('POST', '/api/workflows', { as: principal, ...multipart(titled) })
  assert.equal(answer.status, 409, answer.text)
  const large = multipart(Buffer.alloc(5 * 1024 * 1024, 'a'))
  const refused = await api.ask('POST', '/api/workflows', { as: principal, ...large })
  assert.equal(refused.status, 413, refused.text)
})

test('content is returned as written, and the drawing as SVG or as data', async () => {
  const { principal, ids } = api.eng
  const path = `/api/workflows/${ids['workflow']}`
  const yaml = await api.ask('GET', `${path}/content`, {
    as: principal,
    accept: 'application/yaml',
  })
  assert.equal(yaml.text, definitionText('Send Hello'))
  const json = readJson(
    await api.ask('GET', `${path}/content`, { as: principal, accept: 'application/json' }),
  )
  assert.ok(json['document'])
  const svg = await api.ask('GET', `${path}/schema`, { as: principal })
  assert.equal(svg.headers['content-type'], 'image/svg+xml; charset=utf-8')
  assert.match(svg.text, /<svg /)
  const data = readJson(
    await api.ask('GET', `${path}/schema`, { as: principal, accept: 'application/json' }),
  )
  assert.deepEqual(
    [
      data['title'],
      (data['column'] as { steps: { name: string }[] }).steps.map((each) => each.name),
    ],
    ['Send Hello', ['greet']],
  )
})

test('inputs are validated without starting a run, with an error for each', async () => {
  const { principal, ids } = api.eng
  const path = `/api/workflows/${ids['workflow']}/presentation`
  const shown = readJson(await api.ask('GET', path, { as: principal, accept: 'application/json' }))
  assert.ok(shown['form'])
  const check = async (body: string) =>
    readJson<{ valid: boolean; messages: { parameter: string; code: string }[] }>(
      await api.ask('POST', `${path}/instances/`, {
        as: principal,
        accept: 'application/json',
        body,
      }),
    )
  assert.deepEqual((await check('{"input":{"name":"John"}}')).valid, true)
  const wrong = await check('{"input":{"times":"many"}}')
  assert.equal(wrong.valid, false)
  assert.deepEqual(
    wrong.messages.map(({ code }) => code),
    ['VCO-CNS0002', 'VCO-CNS0002'],
  )
})

test('a workflow in use is deleted only by force, which ends its runs and schedules', async () => {
  const principal = api.enter('eng', 'organisation administrator')
  const made = await seedWorkflow(api.store, principal, { name: 'used', folder: 'Used' })
  const path = `/api/workflows/${made.id}`
  const started = await api.ask('POST', `${path}/executions`, { as: principal })
  assert.equal(started.status, 202, started.text)
  const task = await api.ask('POST', `${path}/tasks`, {
    as: principal,
    body: '{"name":"hourly","every-seconds":3600}',
  })
  assert.equal(task.status, 201, task.text)
  assert.equal((await api.ask('DELETE', path, { as: principal })).status, 409)
  assert.equal((await api.ask('DELETE', `${path}?force=true`, { as: principal })).status, 200)
  assert.equal((await api.ask('GET', path, { as: principal })).status, 404)
  assert.equal(api.runs.canceled.length, 1)
  assert.equal(api.runs.scheduled.size, 0)
  const plain = await seedWorkflow(api.store, principal, { name: 'unused', folder: 'Used' })
  assert.equal(
    (await api.ask('DELETE', `/api/workflows/${plain.id}`, { as: principal })).status,
    200,
  )
})

test('folders are created, listed and deleted', async () => {
  const principal = api.enter('eng', 'author')
  const post = (body: string) => api.ask('POST', '/api/categories', { as: principal, body })
  const made = readAnswer(await post('{"name":"Outer"}'), 201)
  const id = text(child(made, 'id')) ?? ''
  const inner = readAnswer(
    await post(
      `<category><name>Inner</name><parent-category-id>${id}</parent-category-id></category>`,
    ),
    201,
  )
  assert.equal(text(child(inner, 'path')), 'Outer/Inner')
  assert.equal(
    (await post(`{"name":"x","parent-category-id":"${api.ops.ids['category']}"}`)).status,
    404,
  )
  assert.equal((await post(`{"name":"x","parent-category-id":"nonsense"}`)).status, 404)
  assert.equal((await post('{"name":"Outer"}')).status, 409)
  const roots = readAnswer(
    await api.ask('GET', '/api/categories?categoryType=WorkflowCategory&isRoot=true', {
      as: principal,
    }),
  )
  const names = children(roots, 'link').map((each) =>
    children(find(each, 'attributes'), 'attribute').map((pair) => attribute(pair, 'value')),
  )
  assert.ok(names.some((each) => each.includes('Outer')))
  assert.ok(!names.some((each) => each.includes('Inner')))
  assert.equal((await api.ask('DELETE', `/api/categories/${id}`, { as: principal })).status, 409)
  const innerId = text(child(inner, 'id'))
  assert.equal(
    (await api.ask('DELETE', `/api/categories/${innerId}`, { as: principal })).status,
    204,
  )
  assert.equal((await api.ask('DELETE', `/api/categories/${id}`, { as: principal })).status, 204)
})
