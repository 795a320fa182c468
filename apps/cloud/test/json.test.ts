// Goal: every address returns the same document as JSON, and accepts its body as JSON; errors too. Method: every route that reads, over
// HTTP in both formats and both dialects; a VM from creation to metadata by JSON alone; bodies that are wrong in many ways.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { fromJson, readJson, readXml, renderElement, toJson, type Element } from '@skerry/xml'

import { original, ours } from '../src/dialect/dialect.ts'
import { shapeOf } from '../src/dialect/shapes.ts'
import { routes } from '../src/routes.ts'
import { acceptOf, idsFor, pathOf } from './every-route.ts'
import { asJson } from './json-documents.ts'
import { BASE, instantiate, openTenantsApi, type Answered, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const JSON_51 = 'application/*+json;version=5.1'
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Attributes in order of their names, without declarations of namespaces, which JSON does not have. */
const bare = (node: Element): Element => ({
  name: node.name,
  attributes: Object.fromEntries(
    Object.entries(node.attributes)
      .filter(([name]) => !name.startsWith('xmlns'))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ),
  children: node.children.map((each) => (typeof each === 'string' ? each : bare(each))),
})

test('every document that can be read is the same in JSON, in both dialects', async () => {
  const others = new Set(['takeScreenshot', 'readSchema', 'readOpenApi', 'exportOrgUsage'])
  for (const { dialect, ask } of api.spoken) {
    let compared = 0
    for (const route of routes.filter(({ method }) => method === 'GET')) {
      // A stream never ends.
      if (route.name === 'followEvents') continue
      const token = await api.enter(api.eng.org, 'system administrator')
      // What is used now is more at the second read.
      const query = route.name === 'readOrgUsage' ? '?from=2026-01-01&to=2026-01-03' : ''
      const path = pathOf(route, await idsFor(api, route, token)) + query
      const { accept } = acceptOf(route)
      const xml = await ask('GET', path, { token, headers: { accept } })
      const json = await ask('GET', path, { headers: { accept: asJson(accept), ...bearer(token) } })
      assert.equal(json.status, xml.status, `${route.name}: ${json.text}`)
      if (others.has(route.name)) {
        assert.equal(json.headers['content-type'], xml.headers['content-type'], route.name)
        continue
      }
      const type = String(xml.headers['content-type'])
      assert.equal(json.headers['content-type'], type.replace('+xml', '+json'), route.name)
      assert.equal(json.headers['vary'], 'accept')
      assert.equal(xml.headers['vary'], 'accept')
      const root = readXml(xml.text)
      const shape = shapeOf(root.name)
      const value = readJson(json.text)
      assert.deepEqual(value, readJson(JSON.stringify(toJson(root, shape))), route.name)
      const back = fromJson(root.name, shape, value)
      assert.equal(renderElement(bare(back)), renderElement(bare(root)), route.name)
      compared += 1
    }
    assert.ok(compared > 35, `${dialect.name}: ${compared} documents`)
  }
})

test('a VM is created, described and found by JSON alone', async () => {
  const { ids, token } = api.eng
  const headers = {
    accept: 'application/json',
    'content-type': 'application/json',
    ...bearer(token),
  }
  const send = async (method: string, path: string, value?: unknown): Promise<Answered> => {
    const body = value === undefined ? undefined : JSON.stringify(value)
    return api.ask(method, path, { headers, ...(body !== undefined && { body }) })
  }
  const made = await send('POST', `/api/vdc/${ids['vdc']}/action/instantiateVAppTemplate`, {
    name: 'by-json',
    powerOn: false,
    source: { href: `${BASE}/api/vAppTemplate/${ids['template']}` },
    guestCustomizationSection: {
      computerName: 'web',
      sshKey: [
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOb0nZpu2ZCzSfzvFxQ0BkTjpkVUXoqm1hP9wF6cTXJG me@home',
      ],
    },
  })
  assert.equal(made.status, 201, made.text)
  assert.equal(made.headers['content-type'], 'application/json;version=5.1')
  const vapp = JSON.parse(made.text) as {
    readonly name: string
    readonly href: string
    readonly type: string
    readonly tasks: { readonly task: readonly { readonly status: string }[] }
    readonly children: { readonly vm: readonly { readonly href: string }[] }
  }
  assert.equal(vapp.name, 'by-json')
  assert.equal(vapp.type, 'application/vnd.skerry.cloud.vApp+json')
  assert.match(vapp.tasks.task[0]?.status ?? '', /^(queued|running)$/)
  const path = new URL(vapp.href).pathname
  const found = await send('GET', '/api/query?type=vApp&filter=name==by-json')
  const { vAppRecord, vmRecord, total } = JSON.parse(found.text) as {
    readonly total: number
    readonly vAppRecord: readonly { readonly name: string }[]
    readonly vmRecord: readonly unknown[]
  }
  assert.deepEqual([total, vAppRecord.map(({ name }) => name), vmRecord], [1, ['by-json'], []])
  const entries = {
    metadataEntry: [
      { key: 'owner', value: 'alice' },
      { key: 'size', typedValue: { kind: 'MetadataNumberValue', value: 5 } },
    ],
  }
  assert.equal((await send('POST', `${path}/metadata`, entries)).status, 202)
  const size = await send('GET', `${path}/metadata/size`)
  const { typedValue } = JSON.parse(size.text) as { readonly typedValue: unknown }
  assert.deepEqual(typedValue, { kind: 'MetadataNumberValue', value: 5 })
  const renamed = await send('PUT', path, { ...vapp, name: 'renamed', tasks: undefined })
  assert.equal(renamed.status, 202, renamed.text)
  const vm = new URL(vapp.children.vm[0]?.href ?? '').pathname
  const whole = JSON.parse((await send('GET', vm)).text) as object
  const again = await send('PUT', vm, { ...whole, name: 'renamed-vm' })
  assert.equal(again.status, 202, `a VM as it was read: ${again.text}`)
})

test('a body is JSON by its first character too: curl -d sends it as a form', async () => {
  const path = `/api/vApp/${api.eng.ids['entity']}/metadata/colour`
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  for (const body of ['{"value":"round"}', ' \n{"value":"round"}']) {
    const answer = await api.ask('PUT', path, { token: api.eng.token, headers: form, body })
    assert.equal(answer.status, 202, answer.text)
    assert.match(String(answer.headers['content-type']), /task\+xml;version=5\.1$/)
  }
})

test('an integer of any size that the schema allows is exact in both directions', async () => {
  const path = `/api/vApp/${api.eng.ids['entity']}/metadata/large`
  const headers = { accept: JSON_51, ...bearer(api.eng.token) }
  const exact = '123456789012345678'
  const body = `{"typedValue":{"kind":"MetadataNumberValue","value":${exact}}}`
  assert.equal((await api.ask('PUT', path, { headers, body })).status, 202)
  assert.ok((await api.ask('GET', path, { headers })).text.includes(`"value":${exact}}`))
})

test('a key makes a request in JSON safe to repeat', async () => {
  const path = `/api/vdc/${api.eng.ids['vdc']}/action/instantiateVAppTemplate`
  const headers = { accept: JSON_51, ...bearer(api.eng.token) }
  const source = { href: `${BASE}/api/vAppTemplate/${api.eng.ids['template']}` }
  const make = (name: string) =>
    api.ask('POST', path, {
      headers,
      body: JSON.stringify({ name, powerOn: false, operationKey: 'json-key', source }),
    })
  const taskOf = ({ text }: Answered): unknown =>
    (JSON.parse(text) as { tasks: { task: { href: string }[] } }).tasks.task[0]?.href
  const [first, second] = [await make('once'), await make('once')]
  assert.deepEqual([first.status, second.status], [201, 201], second.text)
  assert.equal(taskOf(second), taskOf(first))
  assert.equal((await make('twice')).status, 409)
})

test('a Bearer token is valid in both dialects, and the header of the dialect decides if there are both', async () => {
  for (const { ask, dialect } of api.spoken) {
    const read = async (headers: Readonly<Record<string, string>>) =>
      (await ask('GET', '/api/session', { headers })).status
    const { token } = api.eng
    assert.equal(await read(bearer(token)), 200)
    assert.equal(await read({ authorization: `bearer ${token}` }), 200)
    assert.equal(await read(bearer('bad')), 401)
    assert.equal(await read({ authorization: `Bearer ${token} ${token}` }), 401)
    assert.equal(await read({ ...bearer(token), [dialect.tokenHeader]: 'bad' }), 401)
    assert.equal(await read({ ...bearer('bad'), [dialect.tokenHeader]: token }), 200)
  }
})

test('Accept decides the format by its weights; the version of the same range counts', async () => {
  const cases: readonly (readonly [string, string])[] = [
    ['application/json', 'application/json;version=5.1'],
    ['application/json;version=1.5', 'application/json;version=1.5'],
    ['application/json, text/plain, */*', 'application/json;version=5.1'],
    ['APPLICATION/JSON', 'application/json;version=5.1'],
    [JSON_51, 'application/vnd.skerry.cloud.session+json;version=5.1'],
    ['application/*+json;version=1.5', 'application/vnd.skerry.cloud.session+json;version=1.5'],
    [
      'application/vnd.skerry.cloud.session+json;version=5.5',
      'application/vnd.skerry.cloud.session+json;version=5.5',
    ],
    [
      'application/*+xml;version=1.5;q=0.5, application/*+json;version=5.1',
      'application/vnd.skerry.cloud.session+json;version=5.1',
    ],
    [
      'application/*+json;version=5.1;q=0.5, application/*+xml;version=1.5',
      'application/vnd.skerry.cloud.session+xml;version=1.5',
    ],
    [
      'application/json;q=0, application/*+xml;version=5.1',
      'application/vnd.skerry.cloud.session+xml;version=5.1',
    ],
    ['*/*;version=5.1', 'application/vnd.skerry.cloud.session+xml;version=5.1'],
  ]
  for (const [accept, type] of cases) {
    const answer = await api.ask('GET', '/api/session', {
      token: api.eng.token,
      headers: { accept },
    })
    assert.equal(answer.headers['content-type'], type, accept)
  }
})

test('every error is JSON for a client that reads JSON', async () => {
  const { token } = api.eng
  for (const { ask, dialect } of api.spoken) {
    const { refusals, media, tokenHeader } = dialect
    const cases = [
      ['GET', '/api/org', {}, refusals.unauthenticated],
      ['GET', '/api/org', { accept: 'application/*+json;version=9.9' }, refusals['not-acceptable']],
      ['GET', '/api/org', { accept: 'application/*+json' }, refusals['not-acceptable']],
      ['GET', '/api/nothing', { [tokenHeader]: token }, undefined],
      ['GET', '/api/query?type=nothing', { [tokenHeader]: token }, refusals.invalid],
      ['GET', '/api/admin', { [tokenHeader]: token }, refusals.forbidden],
    ] as const
    for (const [method, path, headers, expected] of cases) {
      const answer = await ask(method, path, { headers: { accept: JSON_51, ...headers } })
      const error = JSON.parse(answer.text) as Readonly<Record<string, unknown>>
      const version = answer.status === 406 ? '1.5' : '5.1'
      const type = `${media('error').replace('+xml', '+json')};version=${version}`
      assert.equal(answer.headers['content-type'], type, path)
      assert.equal(error['majorErrorCode'], answer.status)
      if (expected) assert.equal(error['minorErrorCode'], expected.code, answer.text)
      assert.equal(typeof error['message'], 'string')
      assert.equal(answer.headers['vary'], 'accept')
    }
  }
})

const deep = '['.repeat(500_000)
const wrong: readonly (readonly [what: string, body: string, message: RegExp])[] = [
  ['cut off', '{', /the body is not JSON: .*send an object such as/],
  ['a trailing comma', '{"name":"x",}', /the body is not JSON/],
  ['NaN', '{"name":NaN}', /the body is not JSON/],
  ['an array', '[]', /\$ must be an object, not an array/],
  ['a word', '"name"', /\$ must be an object, not a string/],
  ['null', 'null', /\$ must be an object, not null/],
  [
    'a misspelt key',
    '{"name":"x","sorce":{}}',
    /\$ has no key "sorce"; its keys are: name, .*source/,
  ],
  [
    'a misspelt key inside',
    '{"name":"x","source":{"hre":"y"}}',
    /\$\.source has no key "hre"; its keys are: href, /,
  ],
  ['the prototype', '{"__proto__":{"name":"x"}}', /\$ has no key "__proto__"/],
  ['a method of objects', '{"name":"x","constructor":{}}', /\$ has no key "constructor"/],
  ['a key twice', '{"name":"x","name":"y"}', /has the key "name" twice/],
  ['a key twice, escaped', '{"name":"x","n\\u0061me":"y"}', /has the key "name" twice/],
  ['a number for a string', '{"name":5}', /\$\.name must be a string, not a number/],
  [
    'a string for a boolean',
    '{"name":"x","powerOn":"yes"}',
    /\$\.powerOn must be true or false, not a string/,
  ],
  [
    'null for an object',
    '{"name":"x","source":null}',
    /\$\.source must be an object, not null; leave the key out/,
  ],
  [
    'an object for a list',
    '{"name":"x","guestCustomizationSection":{"sshKey":"k"}}',
    /sshKey must be an array, not a string/,
  ],
  [
    'a control character',
    '{"name":"\\u0000"}',
    /\$\.name contains U\+0000, which XML cannot represent; remove/,
  ],
  ['half of a character', '{"name":"\\ud800"}', /\$\.name contains U\+D800/],
  ['no character', '{"name":"\\uffff"}', /\$\.name contains U\+FFFF/],
  [
    'half a million arrays',
    `{"name":${deep}`,
    /nested more than 64 deep; send the document as the schema has it/,
  ],
  [
    'deep in a value',
    `{"name":${'{"a":'.repeat(80)}1${'}'.repeat(80)}}`,
    /nested more than 64 deep/,
  ],
  [
    'too large',
    `{"name":"${'x'.repeat(1024 * 1024)}"}`,
    /cannot be read: Request body is too large/,
  ],
  ['another template', '{"name":"x","source":{"href":"https://elsewhere"}}', /href of a template/],
  ['nothing that is needed', '{}', /name must have 1 to 128 characters/],
  ['a text', 'shop', /the body is not JSON/],
  ['XML with this type', '<InstantiateVAppTemplateParams name="x"/>', /href of a template/],
]

test(`${wrong.length} kinds of wrong bodies in JSON are refused, and the message says what to send`, async () => {
  const headers = { 'content-type': 'application/json', accept: JSON_51 }
  for (const { ask, dialect } of api.spoken) {
    const own = { ...headers, [dialect.tokenHeader]: api.eng.token }
    const path = `/api/vdc/${api.eng.ids['vdc']}/action/instantiateVAppTemplate`
    for (const [what, body, message] of wrong) {
      const began = performance.now()
      const answer = await ask('POST', path, { headers: own, body })
      assert.equal(answer.status, 400, `${what}: ${answer.text}`)
      const error = JSON.parse(answer.text) as { readonly message: string }
      assert.match(error.message, message, what)
      assert.ok(error.message.length < 1000, `${what}: a message of ${error.message.length}`)
      assert.ok(performance.now() - began < 2000, `${what} took too long`)
    }
  }
})

test('integers outside of their range and other words than those listed are refused', async () => {
  const headers = {
    accept: JSON_51,
    ...bearer(await api.enter(api.eng.org, 'system administrator')),
  }
  const entity = `/api/vApp/${api.eng.ids['entity']}`
  const cases: readonly (readonly [string, string, string, RegExp])[] = [
    [
      'POST',
      `${entity}/action/deploy`,
      '{"deploymentLeaseSeconds":2147483648}',
      /\$\.deploymentLeaseSeconds must be an integer from -2147483648 to 2147483647/,
    ],
    [
      'POST',
      `${entity}/action/deploy`,
      '{"deploymentLeaseSeconds":1.5}',
      /must be an integer, not a number like this/,
    ],
    ['POST', `${entity}/action/deploy`, '{"deploymentLeaseSeconds":1e400}', /must be an integer/],
    [
      'POST',
      `${entity}/action/undeploy`,
      '{"undeployPowerAction":"off"}',
      /must be one of powerOff, suspend/,
    ],
    [
      'PUT',
      `/api/admin/org/${api.eng.org}`,
      '{"quota":{"vms":-1}}',
      /\$\.quota\.vms must be an integer from 0 to/,
    ],
    [
      'PUT',
      `${entity}/metadata/x`,
      '{"typedValue":{"value":1}}',
      /\$\.typedValue\.kind must be one of MetadataStringValue/,
    ],
    [
      'PUT',
      `${entity}/metadata/x`,
      '{"typedValue":{"kind":"MetadataNumberValue","value":9223372036854775808}}',
      /must be an integer from/,
    ],
  ]
  for (const [method, path, body, message] of cases) {
    const answer = await api.ask(method, path, { headers, body })
    assert.equal(answer.status, 400, `${body}: ${answer.text}`)
    assert.match((JSON.parse(answer.text) as { readonly message: string }).message, message)
  }
})

test('who may not do it learns nothing about the body', async () => {
  const token = await api.enter(api.ops.org, 'author')
  const path = `/api/vdc/${api.eng.ids['vdc']}/action/instantiateVAppTemplate`
  const uuid = (api.eng.ids['template'] ?? '').slice(-36)
  const bodies = ['{"nothing":1}', '{', instantiate('x', uuid, false)]
  const answers = await Promise.all(
    bodies.map((body) => api.ask('POST', path, { token, headers: { accept: JSON_51 }, body })),
  )
  assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
  assert.equal(answers[0]?.status, ours.refusals['not-found'].status)
  assert.equal(original.refusals['not-found'].status, 403)
})
