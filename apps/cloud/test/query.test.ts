// Goal: the rules of the query service, type by type, as a client sees them. Method: a real HTTP server and a real Postgres.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, localName, readXml, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import { recordTypes } from '../src/query/record-types.ts'
import {
  BASE,
  find,
  hrefOf,
  linksOf,
  openTenantsApi,
  pathOf,
  read,
  type TenantsApi,
} from './tenants-api.ts'
import { tokenOf } from './token-of.ts'

let api: TenantsApi
let administrator: string
before(async () => {
  api = await openTenantsApi()
  administrator = await tokenOf(api.cloud.db, 'System', 'system administrator')
})
after(() => api[Symbol.asyncDispose]())

const get = (path: string, token = api.eng.token, version = '5.1') =>
  api.ask('GET', path, { token, headers: { accept: `application/*+xml;version=${version}` } })
const query = async (rest: string, token?: string): Promise<Element> =>
  read(await get(`/api/query?${rest}`, token))
const filter = (text: string): string => `filter=${encodeURIComponent(text)}`
const names = (root: Element): string[] =>
  records(root).map((each) => attribute(each, 'name') ?? '')
const records = (root: Element): Element[] =>
  root.children.filter(
    (each): each is Element => typeof each !== 'string' && localName(each.name) !== 'Link',
  )
const refused = async (rest: string, token?: string): Promise<string> => {
  const { status, text } = await get(`/api/query?${rest}`, token)
  assert.equal(status, 400, `${rest}: ${text}`)
  return attribute(readXml(text), 'message') ?? ''
}

/** VMs of these names, in a vApp of their own. */
async function addNamed(all: readonly string[]): Promise<string> {
  const { vapp, vms } = await api.cloud.addVms(all.length, 'POWERED_OFF')
  for (const [at, name] of all.entries()) {
    const id = vms[at]
    assert.ok(id)
    await api.cloud.db.updateTable('vm').set({ name }).where('id', '=', id).execute()
  }
  return `container==${BASE}/api/vApp/vapp-${vapp}`
}

test('pages: default 25 records, at most 128, numbered from 1, empty past the end, and all in one order', async () => {
  const own = await addNamed(
    Array.from({ length: 130 }, (_, at) => `p-${String(at).padStart(3, '0')}`),
  )
  const requested = `type=vm&${filter(own)}`
  const first = await query(requested)
  assert.deepEqual(
    ['total', 'page', 'pageSize', 'name'].map((each) => attribute(first, each)),
    ['130', '1', '25', 'vm'],
  )
  assert.equal(records(first).length, 25)
  assert.equal(records(await query(`${requested}&pageSize=1000`)).length, 128)
  for (const wrong of 'page=0 page=-1 page=one pageSize=0 pageSize=-5 pageSize=x'.split(' ')) {
    assert.match(await refused(`${requested}&${wrong}`), /must be a number of at least 1/)
  }
  const past = await query(`${requested}&page=99`)
  assert.deepEqual([records(past).length, attribute(past, 'total')], [0, '130'])
  for (const sorted of [
    '',
    '&sortAsc=name',
    '&sortDesc=name',
    '&sortDesc=containerName',
    '&sortAsc=memoryMB',
  ]) {
    const seen: string[] = []
    let pages = 0
    for (
      let next: string | undefined = `/api/query?${requested}&pageSize=40${sorted}`;
      next;
      pages += 1
    ) {
      const page = read(await get(pathOf(next)))
      seen.push(...records(page).map(hrefOf))
      const byNumber = await query(`${requested}&pageSize=40${sorted}&page=${pages + 1}`)
      assert.deepEqual(records(page).map(hrefOf), records(byNumber).map(hrefOf), sorted)
      next = linksOf(page)['nextPage']
    }
    assert.deepEqual([pages, seen.length, new Set(seen).size], [4, 130, 130], sorted)
  }
  const last = read(await get(pathOf(linksOf(first)['lastPage'] ?? '')))
  assert.deepEqual(Object.keys(linksOf(last)), ['alternate', 'firstPage', 'previousPage'])
  assert.equal(records(last).length, 5)
  const second = read(await get(pathOf(linksOf(last)['previousPage'] ?? '')))
  assert.equal(attribute(second, 'page'), '5')
})

test('an invalid cursor is 400, with any content', async () => {
  const wrong = ['x', '', 'W10', Buffer.from('["x"]').toString('base64url')]
  for (const after of [...wrong, Buffer.from('["a","b"]').toString('base64url')]) {
    assert.match(await refused(`type=vm&after=${after}`), /nextPage/)
    assert.match(await refused(`type=vm&sortAsc=name&after=${after}`), /nextPage/)
  }
})

test('fields: the requested ones and the address; default: all', async () => {
  const own = await addNamed(['f'])
  // The host's report, so that no attribute is without a value.
  const card = { network: 'skerry-0123456789', address: '10.84.0.9' }
  await api.cloud.db.updateTable('vm').set(card).where('name', '=', 'f').execute()
  const [some] = records(await query(`type=vm&${filter(own)}&fields=name,containerName`))
  assert.deepEqual(Object.keys(some?.attributes ?? {}).toSorted(), [
    'containerName',
    'href',
    'name',
  ])
  const [same] = records(
    await query(`type=vm&${filter(own)}&fields=href,name,name&format=idrecords`),
  )
  assert.deepEqual(Object.keys(same?.attributes ?? {}).toSorted(), ['id', 'name'])
  const [all] = records(await query(`type=vm&${filter(own)}`))
  const known = Object.keys(recordTypes.get('vm')?.fields ?? {})
  assert.deepEqual(Object.keys(all?.attributes ?? {}).toSorted(), [...known, 'href'].toSorted())
  assert.match(
    await refused('type=vm&fields=name,size'),
    /vm has no attribute size; it has name, containerName/,
  )
  assert.match(await refused('type=vm&fields='), /no attribute ;/)
})

test('formats: records, references, idrecords, each with links to the other two', async () => {
  const own = await addNamed(['r'])
  const requested = `type=vm&${filter(own)}`
  const roots: Record<string, [string, string, string[]]> = {
    references: ['VMReferences', 'VMReference', ['href', 'name', 'type']],
    idrecords: ['QueryResultRecords', 'VMRecord', ['container', 'id']],
    records: ['QueryResultRecords', 'VMRecord', ['container', 'href']],
  }
  for (const [format, [root, one, attributes]] of Object.entries(roots)) {
    const found = await query(`${requested}&format=${format}&fields=container`)
    const [record] = records(found)
    assert.deepEqual([localName(found.name), localName(record?.name ?? '')], [root, one])
    assert.deepEqual(Object.keys(record?.attributes ?? {}).toSorted(), attributes)
    assert.equal(attribute(found, 'type'), `application/vnd.skerry.cloud.query.${format}+xml`)
    const others = find(found, 'Link').filter((each) => attribute(each, 'rel') === 'alternate')
    for (const each of others) {
      const other = read(await get(pathOf(hrefOf(each))))
      assert.equal(attribute(other, 'type'), attribute(each, 'type'))
      assert.equal(attribute(other, 'total'), '1')
    }
    assert.equal(others.length, 2)
  }
  const [record] = records(await query(`${requested}&format=idrecords`))
  assert.match(attribute(record, 'id') ?? '', /^urn:skerry:vm:/)
  assert.match(attribute(record, 'container') ?? '', /^urn:skerry:vapp:/)
  assert.match(await refused('type=vm&format=list'), /one of records, references, idrecords/)
  assert.match(await refused('type=event&format=references'), /one of records, idrecords/)
})

test('== is case-sensitive since 5.1, not before, and never with a wildcard', async () => {
  const own = await addNamed(['Web', 'web', 'WEB-1', 'ÄRGER'])
  const found = async (text: string, version: string) => {
    const answer = await get(
      `/api/query?type=vm&${filter(`${own};${text}`)}&sortAsc=name`,
      undefined,
      version,
    )
    assert.equal(answer.status, 200, answer.text)
    return names(readXml(answer.text)).toSorted()
  }
  assert.deepEqual(await found('name==web', '5.1'), ['web'])
  assert.deepEqual(await found('name==web', '5.5'), ['web'])
  assert.deepEqual(await found('name==web', '1.5'), ['Web', 'web'])
  assert.deepEqual(await found('name!=web', '5.1'), ['WEB-1', 'Web', 'ÄRGER'])
  assert.deepEqual(await found('name!=web', '1.5'), ['WEB-1', 'ÄRGER'])
  for (const version of ['1.5', '5.1']) {
    assert.deepEqual(await found('name==w*', version), ['WEB-1', 'Web', 'web'])
    assert.deepEqual(await found('name==*B-*', version), ['WEB-1'])
    assert.deepEqual(await found('name==ä*', version), ['ÄRGER'])
    assert.deepEqual(await found('name==*', version), ['WEB-1', 'Web', 'web', 'ÄRGER'])
  }
  assert.deepEqual(await found('status==powered_off', '5.1'), [])
  assert.equal((await found('status==powered_off', '1.5')).length, 4)
  assert.equal((await found('status==powered_*', '5.1')).length, 4)
})

test('; binds tighter than , and parentheses bind tighter than both; a backslash escapes', async () => {
  const own = await addNamed(['a', 'b', 'c', 'x,y;(z)', '100%', 'a*b', 'back\\slash', 'a_b'])
  const found = async (text: string) =>
    names(await query(`type=vm&${filter(`(${own});(${text})`)}&sortAsc=name`))
  assert.deepEqual(await found('name==a,name==b;name==c'), ['a'])
  assert.deepEqual(await found('(name==a,name==b);name==b'), ['b'])
  assert.deepEqual(await found('name==x\\,y\\;\\(z\\)'), ['x,y;(z)'])
  assert.deepEqual(await found('name==100%'), ['100%'])
  assert.deepEqual(await found('name==1*%'), ['100%'])
  assert.deepEqual(await found('name==a\\*b'), ['a*b'])
  assert.deepEqual(await found('name==*_b'), ['a_b'])
  assert.deepEqual(await found('name==back\\\\*'), ['back\\slash'])
  const encoded = `filter=${encodeURIComponent('name==x%2Cy%3B%28z%29')}&filterEncoded=true`
  assert.deepEqual(names(await query(`type=vm&${encoded}`)), ['x,y;(z)'])
})

test('numbers, words, references and times are compared by their type', async () => {
  const own = await addNamed(['n'])
  const total = async (text: string, type = 'vm') =>
    Number(attribute(await query(`type=${type}&${filter(text)}`), 'total'))
  assert.equal(await total(`${own};memoryMB=ge=64;memoryMB=lt=65;numberOfCpus==1`), 1)
  assert.equal(await total(`${own};memoryMB=gt=64`), 0)
  assert.equal(await total(`${own};isVAppTemplate==false;isBusy==false;isDeployed!=true`), 1)
  assert.equal(await total(`${own};isVAppTemplate==true`), 0)
  const [record] = records(await query(`type=vm&${filter(own)}`))
  assert.equal(await total(`href==${hrefOf(record)}`), 1)
  assert.equal(await total(`vdc==${attribute(record, 'vdc')};${own}`), 1)
  assert.equal(await total(`vdc!=${attribute(record, 'vdc')};${own}`), 0)
  assert.equal(
    await total('creationDate=gt=2020-01-01T00:00:00Z;creationDate=lt=2021-01-01', 'vApp'),
    0,
  )
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['memoryMB==many', /column 1: expected a number/],
    ['memoryMB==1*', /column 1: \* is not allowed/],
    ['name=lt=a', /column 1: name has no order/],
    ['name!=a*', /column 1: \* is allowed only after ==/],
    ['isBusy==maybe', /true or false/],
    ['vdc==here', /address or the id/],
    ['name==a;size==1', /column 9: vm has no attribute size; it has name, containerName/],
    ['name=a', /column 5/],
    ['name==a\\', /column 9/],
    ['((name==a)', /column 11: expected a closing parenthesis/],
    [`${'('.repeat(40)}name==a`, /too deep/],
    ['name==a\0', /U\+0000/],
  ]
  for (const [text, says] of wrong)
    assert.match(await refused(`type=vm&${filter(text)}`), says, text)
  assert.match(await refused(`type=vApp&${filter('creationDate=gt=yesterday')}`), /a time such as/)
  assert.match(await refused(`type=vm&sortAsc=name&sortDesc=name`), /not both/)
})

/** Tasks, and their events, of a deleted VM and a deleted vApp. */
async function askedOfWhatIsGone(): Promise<void> {
  const { vapp, vms } = await api.cloud.addVms(1, 'POWERED_ON')
  for (const [table, id] of [
    ['vm', vms[0]],
    ['vapp', vapp],
  ] as const) {
    const path = `/api/vApp/${table}-${id}/power/action/powerOff`
    const task = read(await api.ask('POST', path, { token: api.eng.token }), 202)
    await sql`update ${sql.table(table)} set deleted_at = clock_timestamp() where id = ${id}`.execute(
      api.cloud.db,
    )
    const own = filter(`id==${attribute(task, 'id')}`)
    const [requested] = records(await query(`type=task&${own}`))
    assert.deepEqual(
      [attribute(requested, 'object'), attribute(requested, 'objectType')],
      [undefined, table === 'vm' ? 'vm' : 'vApp'],
    )
    const [named] = records(await query(`type=task&format=idrecords&${own}`))
    assert.equal(attribute(named, 'object'), `urn:skerry:${table}:${id}`)
  }
}

test('every type can be queried with its right, in every format, and lists its attributes when one is unknown', async () => {
  await askedOfWhatIsGone()
  for (const [name, type] of recordTypes) {
    const ofAdministrators = ['cloud:read', 'external:admin'].includes(type.permission)
    const token = ofAdministrators ? administrator : api.eng.token
    for (const format of ['records', 'idrecords', ...(type.references ? ['references'] : [])]) {
      const root = await query(`type=${name}&format=${format}`, token)
      assert.ok(Number(attribute(root, 'total')) > 0, name)
      const all = records(root).flatMap((each) => Object.values(each.attributes))
      for (const href of new Set(all.filter((each) => each.startsWith(BASE)))) {
        assert.equal((await get(pathOf(href), token)).status, 200, `${name}: ${href}`)
      }
    }
    for (const [field, { is }] of Object.entries(type.fields)) {
      await query(`type=${name}&fields=${field}&sortDesc=${field}&pageSize=2&page=2`, token)
      const value = { number: '1', boolean: 'true', time: '2026-01-01', reference: api.eng.org }
      const other = (value as Record<string, string>)[is] ?? 'x'
      const totals = ['==', '!='].map(async (sign) => {
        const found = await query(`type=${name}&${filter(`${field}${sign}${other}`)}`, token)
        return Number(attribute(found, 'total'))
      })
      const [equal = 0, unequal = 0] = await Promise.all(totals)
      const all = attribute(await query(`type=${name}`, token), 'total')
      // A record without a value is unequal to every value, if its attribute is declared `maybe`.
      assert.equal(equal + unequal, Number(all), `${name}.${field}`)
    }
    assert.match(await refused(`type=${name}&sortAsc=none`, token), /has no attribute none; it has/)
    if (token !== administrator) continue
    assert.equal((await get(`/api/query?type=${name}`)).status, 403, name)
  }
  assert.match(await refused('type=moon'), /one of vm, adminVM, vApp/)
  assert.match(await refused('type=VM'), /not VM/)
})

test('an event is found by its id', async () => {
  const [first] = records(await query('type=event&format=idrecords'))
  const id = attribute(first, 'id') ?? ''
  assert.match(id, /^urn:skerry:event:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  const found = await query(`type=event&format=idrecords&${filter(`id==${id}`)}`)
  assert.deepEqual(records(found), [first])
  const none = 'id==urn:skerry:event:ffffffff-ffff-ffff-ffff-ffffffffffff'
  assert.equal(attribute(await query(`type=event&${filter(none)}`), 'total'), '0')
})

test('adminVM covers all organisations, for administrators only; vm covers the caller’s own, also for them', async () => {
  const all = await query('type=adminVM&pageSize=128&fields=org', administrator)
  const orgs = new Set(records(all).map((each) => attribute(each, 'org')))
  assert.ok(
    orgs.has(`${BASE}/api/org/${api.eng.org}`) && orgs.has(`${BASE}/api/org/${api.ops.org}`),
  )
  assert.equal(attribute(await query('type=vm', administrator), 'total'), '0')
  assert.equal(attribute(await query('type=vApp', administrator), 'total'), '0')
  const mine = Number(attribute(await query('type=vm'), 'total'))
  const theirs = Number(attribute(await query('type=vm', api.ops.token), 'total'))
  assert.equal(Number(attribute(all, 'total')), mine + theirs)
  assert.deepEqual(names(await query('type=organization')), ['eng'])
  assert.deepEqual(names(await query('type=organization', administrator)).toSorted(), [
    'System',
    'eng',
    'ops',
  ])
  const consoleOnly = await tokenOf(api.cloud.db, 'eng', 'console only')
  assert.equal(Number(attribute(await query('type=vm', consoleOnly), 'total')), mine)
  assert.equal((await get('/api/query?type=adminVM', consoleOnly)).status, 403)
})

test('typed queries have their own path with the same result, and take no type', async () => {
  const requested = '&sortAsc=name&pageSize=1&page=2'
  const typed = await query(`type=vm${requested}`)
  const own = read(await get(`/api/vms/query?${requested.slice(1)}`))
  assert.deepEqual(records(own).map(hrefOf), records(typed).map(hrefOf))
  assert.ok(linksOf(own)['firstPage']?.startsWith(`${BASE}/api/vms/query?`))
  for (const path of ['vApps', 'vAppTemplates', 'catalogs', 'admin/orgs']) {
    read(await get(`/api/${path}/query`))
  }
  for (const path of ['vms', 'vapps', 'hosts'].map(
    (each) => `/api/admin/extension/${each}/query`,
  )) {
    assert.equal((await get(path)).status, 403)
    read(await get(path, administrator))
  }
  assert.equal((await get('/api/vms/query?type=vm')).status, 400)
})

test('without a type: every query that the caller may run, by name and media type', async () => {
  const list = read(await get('/api/query'))
  const links = find(list, 'Link')
  assert.ok(links.every((each) => hrefOf(each).includes('?type=')))
  assert.ok(!links.some((each) => attribute(each, 'name') === 'adminVM'))
  const vm = links.filter((each) => attribute(each, 'name') === 'vm')
  assert.deepEqual(
    vm.map((each) => attribute(each, 'type')?.replace('application/vnd.skerry.cloud.query.', '')),
    ['records+xml', 'references+xml', 'idrecords+xml'],
  )
  for (const each of links) read(await get(`${pathOf(hrefOf(each))}&page=1`))
  const theirs = find(read(await get('/api/query', administrator)), 'Link')
  assert.ok(theirs.some((each) => attribute(each, 'name') === 'adminVM'))
})

test('a renamed or moved resource is found under its new name', async () => {
  const { db, host } = api.cloud
  const { vapp, vms } = await api.cloud.addVms(2, 'POWERED_ON')
  const other = await api.cloud.addVms(1, 'POWERED_ON')
  await db.updateTable('vapp').set({ name: 'renamed' }).where('id', '=', vapp).execute()
  const of = async (text: string, type = 'vm', token?: string) =>
    Number(attribute(await query(`type=${type}&${filter(text)}`, token), 'total'))
  assert.equal(await of('containerName==renamed'), 2)
  const [moved] = other.vms
  assert.ok(moved && vms.length === 2)
  await db.updateTable('vm').set({ vapp, name: 'moved' }).where('id', '=', moved).execute()
  assert.equal(await of('containerName==renamed'), 3)
  await db.updateTable('host').set({ name: 'other-host' }).where('id', '=', host).execute()
  assert.ok((await of('hostName==other-host', 'adminVM', administrator)) >= 3)
  await db.updateTable('vdc').set({ name: 'moon' }).where('name', '=', 'main').execute()
  assert.ok((await of('vdcName==moon', 'vApp')) >= 2)
  assert.equal(await of('containerName==renamed;vdcName==moon'), 3)
  assert.equal(await of('containerName==renamed;vdcName==main'), 0)
  assert.ok((await of('vdcName==moon', 'adminVM', administrator)) >= 3)
  await db.updateTable('vm').set({ host: null }).where('id', '=', moved).execute()
  assert.equal(await of(`hostName==other-host;name==moved`, 'adminVM', administrator), 0)
  assert.equal(await of(`hostName!=other-host;name==moved`, 'adminVM', administrator), 1)
})

test('a query that takes longer than 2 s is 400 and says how to narrow it', async () => {
  await api.cloud.db.transaction().execute(async (tx) => {
    await sql`lock table vm in access exclusive mode`.execute(tx)
    const began = performance.now()
    const says = await refused('type=vm&sortAsc=memoryMB')
    assert.match(says, /timed out after 2 s; narrow it: filter by status.*sort by name/)
    assert.ok(performance.now() - began < 4000)
  })
  await query('type=vm')
})
