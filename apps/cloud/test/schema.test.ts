// Goal: the published schema is complete and matches our documents; every link works, and only possible actions are linked.
// Method: the schema over HTTP; every document for every kind of caller, link by link, each validated against it (held-to-schema.ts).
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import type { VmId } from '@skerry/vm'
import { attribute, localName, readXml, type Element } from '@skerry/xml'

import { ours } from '../src/dialect/dialect.ts'
import { schemaIn } from '../src/documents/schema-in.ts'
import type { Role } from '../src/domain/roles.ts'
import type { Status } from '../src/domain/vm-status.ts'
import { vappOperations } from '../src/operations/vapp-operations.ts'
import { operations } from '../src/operations/vm-operations.ts'
import { recordTypes } from '../src/query/record-types.ts'
import { routes } from '../src/routes.ts'
import type { Action } from '../src/tasks/operation.ts'
import { exampleAt, exampleOf } from './every-route.ts'
import { exampleText } from './example-text.ts'
import { SCHEMA, validate } from './held-to-schema.ts'
import {
  find,
  hrefOf,
  openTenantsApi,
  pathOf,
  toRead,
  type Answered,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const accept = (version: string) => ({ accept: `application/*+xml;version=${version}` })
const roles: readonly Role[] = [
  'console only',
  'user',
  'author',
  'organisation administrator',
  'system administrator',
]

test('the schema files of every version are served without credentials and without a version in the request', async () => {
  const files = await readdir(SCHEMA)
  const requested = api.spoken.flatMap((at) =>
    ['1.5', '5.1', '5.5'].map((version) => ({ ...at, version })),
  )
  for (const { ask, dialect, version } of requested) {
    const seen = new Set(['master.xsd'])
    for (const file of seen) {
      const answer = await ask('GET', `/api/v${version}/schema/${file}`, {
        headers: { accept: '*/*' },
      })
      assert.equal(answer.status, 200, file)
      assert.equal(answer.headers['content-type'], `${dialect.media('schema')};version=${version}`)
      const kept = await readFile(join(SCHEMA, file), 'utf8')
      assert.equal(answer.text, schemaIn(dialect, file, kept))
      if (dialect === api.spoken[0].dialect) assert.equal(answer.text, kept)
      for (const [, next = ''] of answer.text.matchAll(/schemaLocation="([^"]+)"/g)) seen.add(next)
    }
    assert.deepEqual([...seen].toSorted(), files.toSorted(), 'each is reachable from the first')
  }
  const none = [
    '/api/v1.5/schema/other.xsd',
    '/api/v9.9/schema/master.xsd',
    '/api/v1.5/schema/..%2f..%2fpackage.json',
    '/api/v1.5/schema/master.xsd%00',
  ]
  for (const path of none) assert.equal((await api.ask('GET', path)).status, 404, path)
})

test('the schema rejects documents that we do not send', async () => {
  const error = `<Error xmlns="urn:skerry:cloud:1.5" majorErrorCode="404" minorErrorCode="NOT_FOUND" message="no"/>`
  const wrong = [
    error.replace('404', 'lost'),
    error.replace('NOT_FOUND', 'not found'),
    error.replace('message', 'text'),
    error.replace('1.5', '1.6'),
    error.replaceAll('Error', 'Mistake'),
    error.replace('/>', '><More/></Error>'),
  ]
  assert.deepEqual(
    [...(await validate([error, ...wrong])).keys()].toSorted((a, b) => a - b),
    wrong.map((_, at) => at + 1),
  )
})

test('every request document is in the schema, and its example is valid', async () => {
  const declared = new Set(
    find(readXml(await readFile(join(SCHEMA, 'params.xsd'), 'utf8')), 'element').map((each) =>
      attribute(each, 'name'),
    ),
  )
  const examples = routes.flatMap((route) => {
    const text = exampleOf(route, exampleAt(api.eng.ids, api.eng.vapp))
    assert.equal(text === undefined, typeof route.takes?.shape !== 'string', route.name)
    return text === undefined ? [] : [{ route, text }]
  })
  const wrong = await validate(
    examples.map(({ text }) => text.replace(/^<\w+/, `$& xmlns="${ours.namespace('params')}"`)),
  )
  for (const [at, lines] of wrong) {
    const { route, text } = examples[at] ?? assert.fail()
    // A document that is also a response may be sent back in part; it must be a known element.
    const isWhole = declared.has(localName(readXml(text).name))
    const serious = lines.filter((line) => isWhole || /No matching global/.test(line))
    assert.deepEqual(serious, [], `${route.name}: ${text}`)
  }
})

test('every relation of an action is in the schema', async () => {
  const schema = readXml(await readFile(join(SCHEMA, 'params.xsd'), 'utf8'))
  const known = find(schema, 'simpleType', 'restriction', 'enumeration').map((each) =>
    attribute(each, 'value'),
  )
  for (const { action } of operations) {
    if (action) assert.ok(known.includes(action.rel), `${action.rel} is not a Relation`)
  }
})

test('every attribute that a record can have is in the schema', async () => {
  const schema = readXml(await readFile(join(SCHEMA, 'query.xsd'), 'utf8'))
  const types = find(schema, 'complexType')
  assert.ok(recordTypes.size > 0)
  for (const { element: name, fields } of recordTypes.values()) {
    const type = types.find((each) => attribute(each, 'name') === `${name}Type`)
    assert.ok(type, `no type for ${name}`)
    const known = find(type, 'complexContent', 'extension', 'attribute').map((each) =>
      attribute(each, 'name'),
    )
    for (const field of Object.keys(fields)) assert.ok(known.includes(field), `${name}@${field}`)
  }
})

test('every readable link is 200 for the caller that it was shown to, in every version', async () => {
  for (const status of ['POWERED_ON', 'POWERED_OFF', 'SUSPENDED', 'UNRESOLVED'] as const) {
    await api.cloud.addVms(2, status)
  }
  const asking = api.spoken.flatMap((at) => roles.map((role) => ({ ...at, role })))
  const linkedRoutes = new Set<string>()
  for (const { role, ask, base } of asking) {
    const token = await api.enter(api.eng.org, role)
    for (const version of role === 'author' ? ['1.5', '5.1', '5.5'] : ['5.1']) {
      const seen = new Set([`${base}/api/session`])
      for (const href of seen) {
        assert.ok(href.startsWith(`${base}/api/`), href)
        const headers = accept(version)
        linkedRoutes.add(routeOf(pathOf(href)))
        const answer = await ask('GET', pathOf(href), { token, headers })
        assert.equal(answer.status, 200, `${role}, ${version}: ${href}\n${answer.text}`)
        if (/^(image\/png|text\/csv)/.test(String(answer.headers['content-type']))) continue
        for (const next of toRead(readXml(answer.text))) seen.add(next)
      }
      assert.ok(seen.size > 20, `${role}: ${seen.size} documents`)
    }
  }
  const reads = routes.filter(
    // queryVms and the like are other addresses of runQuery.
    ({ method, name, path }) =>
      method === 'GET' && (name === 'runQuery' || !path.endsWith('/query')),
  )
  const lonely = reads.map(({ name }) => name).filter((name) => !linkedRoutes.has(name))
  assert.deepEqual(lonely.toSorted(), Object.keys(unlinked).toSorted(), 'routes without a link')
})

/** Routes that no document links, and why. */
const unlinked: Readonly<Record<string, string>> = {
  listVersions: 'clients begin with it',
  readSchema: 'public; the reference names it',
  readOpenApi: 'public; the reference names it',
  followEvents: 'its path is fixed',
  listAccessTokens: 'its path is fixed',
  readAccessToken: 'the list of tokens links it',
  listSecondFactors: 'its path is fixed',
  readSecondFactor: 'the list of second factors links it',
  readMemory: 'below a VM, at the path that older clients expect',
  readUsage: 'below a VM; the documents of the published interface do not change',
  readProcessors: 'below a VM, at the path that older clients expect',
  readMetadataValue: 'metadata links it, and these VMs have none',
  readConnections: 'cards on networks across hosts link it, and these VMs have none',
  readUpload: 'a new upload links it',
  resolve: 'by an id that the client has',
}

/** The name of the route of a path that is read. */
const routeOf = (path: string): string => {
  const [plain = ''] = path.split('?')
  const found = routes.find((route) => {
    const pattern = new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}/?$`)
    return route.method === 'GET' && pattern.test(plain)
  })
  return found?.name ?? assert.fail(`no route for ${path}`)
}

/** The end of every path of an action on a VM or vApp. */
const pathsOf = (all: readonly { readonly action?: Action }[]) =>
  all.flatMap(({ action }) =>
    action ? [action.path, ...(action.also ? [`action/${action.also.rel}`] : [])] : [],
  )
const ofKind: Readonly<Record<string, readonly string[]>> = {
  vm: pathsOf(operations),
  vapp: pathsOf(vappOperations),
}
const actions = [...new Set(Object.values(ofKind).flat())]
const linked = (node: Element): Set<string> =>
  new Set(
    find(node, 'Link').flatMap((each) => {
      const rel = attribute(each, 'rel') ?? ''
      if (rel === 'remove') return ['']
      return actions.filter((path) => hrefOf(each).endsWith(`/${path}`))
    }),
  )

/** The example of the document that an action takes. */
const bodyOf = (path: string): string | undefined => {
  const { takes } = operations.find(({ action }) => action?.path === path) ?? {}
  return takes && exampleText(takes)
}

const statuses: readonly Status[] = [
  'FAILED_CREATION',
  'UNRESOLVED',
  'RESOLVED',
  'SUSPENDED',
  'POWERED_ON',
  'POWERED_OFF',
]

test('linked actions are accepted; others are rejected, or would change nothing', async () => {
  const asking = api.spoken.flatMap((at) => roles.map((role) => ({ ...at, role })))
  for (const { role, ask, dialect } of asking) {
    const token = await api.enter(api.eng.org, role)
    const { forbidden, conflict } = dialect.refusals
    for (const status of statuses) {
      for (const kind of ['vm', 'vapp']) {
        const add = async () => {
          const { vapp, vms } = await api.cloud.addVms(1, status)
          return { vm: vms[0] as VmId, path: `/api/vApp/${kind}-${kind === 'vm' ? vms[0] : vapp}` }
        }
        const shown = linked(readXml((await ask('GET', (await add()).path, { token })).text))
        for (const action of ['', ...(ofKind[kind] ?? [])]) {
          const { vm, path } = await add()
          const what = `${role}: ${action || 'delete'} of a ${kind} that is ${status}`
          const answer: Answered =
            action === ''
              ? await ask('DELETE', path, { token })
              : await ask('POST', `${path}/${action}`, {
                  token,
                  ...(bodyOf(action) !== undefined && { body: bodyOf(action) ?? '' }),
                })
          if (shown.has(action)) {
            assert.equal(answer.status, 202, `${what}\n${answer.text}`)
            assert.equal(localName(readXml(answer.text).name), 'Task')
            continue
          }
          if (answer.status === 202) {
            const row = await api.cloud.db
              .selectFrom('vm')
              .select(['status', 'projected_status'])
              .where('id', '=', vm)
              .executeTakeFirstOrThrow()
            assert.equal(row.projected_status, row.status, `${what} is not linked, and changes it`)
          } else {
            const refused = [forbidden.status, conflict.status].includes(answer.status)
            assert.ok(refused, `${what}\n${answer.text}`)
          }
        }
      }
    }
  }
})

test('every route declares its responses', () => {
  for (const row of routes) {
    for (const [status, document] of Object.entries(row.answers)) {
      assert.equal(typeof document, 'string', `${row.name} ${status}`)
    }
  }
})
