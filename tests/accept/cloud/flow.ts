// The flow of the specification with curl, word for word, in the versions that it names: log in, query, ticket, nested
// virtualisation, log out.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { until } from '@skerry/lab'
import { attribute, childrenByLocalName, localName, text } from '@skerry/xml'

import { accept, callerOf, curl, headerOf, logInByCurl, whole, wordsOfError } from './curl.ts'
import { linksIn, type Ledger } from './links.ts'
import { logIn, skip, tenant, there, wordOf } from './place.ts'

const MEDIA = 'application/vnd.skerry.cloud.'
const VERSIONS = ['1.5', '5.1'] as const
/** What runs while the flow is tested. */
export const RUNNING = 'web'

export function testLogin(): void {
  for (const version of VERSIONS) {
    test(`${version}: a login returns token, cookie and every link`, { skip }, async () => {
      const { url } = there().cloud
      const { user, org } = tenant()
      const said = await logInByCurl(tenant(), version)
      assert.equal(said.line, 'HTTP/1.1 200 OK')
      assert.equal(said.type, `${MEDIA}session+xml;version=${version}`)
      const token = headerOf(said, 'x-cloud-authorization') ?? ''
      assert.match(token, /^[\w+/=-]{32,}$/)
      const cookie = `cloud-token=${token}; Secure; Path=/; HttpOnly; SameSite=Strict`
      assert.equal(headerOf(said, 'set-cookie'), cookie)
      for (const [name] of said.headers) assert.equal(name, name.toLowerCase())
      assert.equal(localName(said.root.name), 'Session')
      assert.deepEqual(
        ['user', 'org', 'type', 'href'].map((name) => attribute(said.root, name)),
        [user, org, `${MEDIA}session+xml;version=${version}`, `${url}/api/session`],
      )
      const caller = await callerOf(tenant(), version)
      const orgs = await caller.ask('GET', '/api/org')
      const [own] = childrenByLocalName(orgs.root, 'Org')
      const tenants = [
        `down ${MEDIA}orgList+xml - ${url}/api/org`,
        `remove - - ${url}/api/session`,
        `down ${MEDIA}org+xml ${org} ${attribute(own, 'href')}`,
        `down ${MEDIA}query.queryList+xml - ${url}/api/query`,
        `entityResolver ${MEDIA}entity+xml - ${url}/api/entity/`,
      ]
      assert.deepEqual(linksIn(said.root), tenants)
      const ruler = await logInByCurl(there().cloud.admin, version)
      assert.equal(attribute(ruler.root, 'org'), 'System')
      assert.ok(linksIn(ruler.root).includes(`down ${MEDIA}admin.cloud+xml - ${url}/api/admin`))
      assert.equal(linksIn(ruler.root).length, tenants.length + 1)
      // The session document is the same at every read; the token is returned at login only.
      const again = await caller.ask('GET', '/api/session')
      assert.deepEqual(linksIn(again.root), tenants)
      assert.equal(headerOf(again, 'x-cloud-authorization'), undefined)
      assert.equal(headerOf(again, 'set-cookie'), undefined)
    })
  }

  test(
    'versions and schema are public; the certificate is from the cloud’s own CA',
    { skip },
    async () => {
      const { url } = there().cloud
      const said = await curl(whole('/api/versions'))
      assert.equal(said.status, 200)
      const reported = childrenByLocalName(said.root, 'VersionInfo').map((each) => [
        text(childrenByLocalName(each, 'Version')[0]),
        text(childrenByLocalName(each, 'LoginUrl')[0]),
      ])
      assert.deepEqual(
        reported,
        VERSIONS.map((version) => [version, `${url}/api/sessions`]),
      )
      for (const version of [...VERSIONS, '5.5']) {
        const schema = await curl(whole(`/api/v${version}/schema/master.xsd`))
        assert.equal(schema.status, 200)
        assert.equal(schema.type, `${MEDIA}schema+xml;version=${version}`)
      }
      const stranger = promisify(execFile)('curl', ['-sS', whole('/api/versions')])
      await assert.rejects(stranger, { code: 60 }, 'curl does not know the CA')
      // As in the examples of the specification, which do not verify the certificate.
      const login = tenant()
      const basic = ['-u', `${login.user}@${login.org}:${login.password}`]
      const blind = await curl(
        '-k',
        '-X',
        'POST',
        '-H',
        accept('1.5'),
        ...basic,
        whole('/api/sessions'),
      )
      assert.equal(blind.status, 200)
    },
  )
}

export function testFlow(ledger: Ledger): void {
  test('a VM is created for the flow, and runs', { skip }, async () => {
    const client = await logIn(tenant())
    const body = `<InstantiateVAppTemplateParams name="${RUNNING}"><Source href="${tenant().template}"/></InstantiateVAppTemplateParams>`
    await ledger.act(client, tenant().vdc, 'add', body, 'instantiateVAppTemplate')
    // Another organisation has one too, which is off.
    const other = await logIn(tenant(1))
    const off = body.replace('<Source', ' <Source').replace('">', '" powerOn="false">')
    await ledger.act(
      other,
      tenant(1).vdc,
      'add',
      off.replace(tenant().template, tenant(1).template),
      'instantiateVAppTemplate',
    )
  })

  for (const version of VERSIONS) {
    test(
      `${version}: running VMs are found by status, and their screens by link`,
      { skip },
      async () => {
        const { url } = there().cloud
        const caller = await callerOf(tenant(), version)
        const where = '/api/query?type=vm&filter=status==POWERED_ON&fields=name,containerName'
        const found = await caller.ask('GET', where)
        assert.equal(found.line, 'HTTP/1.1 200 OK')
        assert.equal(found.type, `${MEDIA}query.records+xml;version=${version}`)
        assert.deepEqual(
          ['total', 'pageSize', 'page', 'name', 'type'].map((name) => attribute(found.root, name)),
          ['1', '25', '1', 'vm', `${MEDIA}query.records+xml`],
        )
        const alternates = childrenByLocalName(found.root, 'Link')
        assert.deepEqual(
          alternates.map((each) => [attribute(each, 'rel'), attribute(each, 'type')]),
          ['references', 'idrecords'].map((format) => ['alternate', `${MEDIA}query.${format}+xml`]),
        )
        for (const link of alternates) {
          const other = await caller.ask('GET', attribute(link, 'href') ?? '')
          assert.equal(attribute(other.root, 'total'), '1')
        }
        const [record, ...more] = childrenByLocalName(found.root, 'VMRecord')
        assert.deepEqual(more, [])
        assert.deepEqual(Object.keys(record?.attributes ?? {}).toSorted(), [
          'containerName',
          'href',
          'name',
        ])
        assert.equal(attribute(record, 'containerName'), RUNNING)
        const vm = attribute(record, 'href') ?? ''
        assert.ok(vm.startsWith(`${url}/api/vApp/vm-`))
        assert.equal(attribute(found.root, 'href')?.startsWith(`${url}/api/query?`), true)

        const document = await caller.ask('GET', vm)
        const screen = linksIn(document.root).find((each) =>
          each.startsWith('screen:acquireTicket '),
        )
        assert.equal(screen, `screen:acquireTicket - - ${vm}/screen/action/acquireTicket`)
        const said = await caller.ask('POST', `${vm}/screen/action/acquireTicket`)
        assert.equal(said.line, 'HTTP/1.1 200 OK')
        assert.equal(said.type, `${MEDIA}screenTicket+xml;version=${version}`)
        // As client scripts extract it: the element and its text on one line.
        const [line = ''] = said.text.split('\n').filter((each) => each.includes('<ScreenTicket'))
        const ticket = line.split(/[<>]/)[2] ?? ''
        assert.match(ticket, /^mks:\/\/[^/]+\/[^?]+\?ticket=[^&]+$/)
        const [, host] = /^mks:\/\/([^/]+)\//.exec(ticket) ?? []
        assert.notEqual(host, new URL(url).host)
        assert.notEqual(host, new URL(url).hostname)
        // Rule 3 of the specification: the whole text after a question mark, decoded once.
        const page = new URL(`https://page.example/console?${encodeURIComponent(ticket)}`)
        assert.equal(decodeURIComponent(page.search.slice(1)), ticket)
        const next = await caller.ask('POST', `${vm}/screen/action/acquireTicket`)
        assert.notEqual(next.text, said.text, 'each is another')
      },
    )

    test(
      `${version}: the nested switch of a running VM is rejected; 1.5 does not have it`,
      { skip },
      async () => {
        const caller = await callerOf(tenant(), version)
        const found = await caller.ask('GET', '/api/vms/query?fields=name')
        const vm = attribute(childrenByLocalName(found.root, 'VMRecord')[0], 'href') ?? ''
        const id = vm.slice(vm.lastIndexOf('/') + 1)
        for (const word of ['enable', 'disable']) {
          const said = await caller.ask('POST', `/api/vApp/${id}/action/${word}NestedHypervisor`)
          if (version === '1.5') {
            assert.match(wordsOfError(said, 406, 'NOT_ACCEPTABLE', version), /5\.1/)
          } else
            assert.match(wordsOfError(said, 409, 'CONFLICT', version), /POWERED_ON|POWERED_OFF/)
        }
      },
    )
  }
}

/** A logged-out token is invalid immediately, at every cell. */
export function testLogout(): void {
  for (const version of VERSIONS) {
    test(
      `${version}: after a logout the token is invalid at both cells within a second`,
      { skip },
      async (t) => {
        const { cells, url } = there().cloud
        const caller = await callerOf(tenant(), version)
        const shown = (base: string) =>
          curl(
            '-H',
            accept(version),
            '-H',
            `x-cloud-authorization: ${caller.token}`,
            whole('/api/session', base),
          )
        const apis = [url, ...cells.map((cell) => cell.url)]
        for (const api of apis) assert.equal((await shown(api)).status, 200)
        const out = await caller.ask('DELETE', '/api/session')
        assert.equal(out.line, 'HTTP/1.1 204 No Content')
        assert.equal(out.text, '')
        const began = performance.now()
        let lastGood = 0
        // The time of the request counts, not the duration of a new curl process and its handshakes.
        const isDead = (api: string) => async () => {
          const requested = performance.now() - began
          const { status } = await shown(api)
          if (status !== 401) lastGood = Math.max(lastGood, requested)
          return status === 401
        }
        await Promise.all(apis.map((api) => until(`dead at ${api}`, isDead(api))))
        const took = Math.round(lastGood)
        t.diagnostic(`invalid at the balancer and at both cells ${took} ms after the response`)
        assert.ok(took <= 1000, `${took} ms`)
        const over = await shown(url)
        wordsOfError(over, 401, 'UNAUTHENTICATED', version)
        assert.match(headerOf(over, 'www-authenticate') ?? '', /^Basic realm="/)
        // Other sessions of the same user continue.
        assert.equal(await wordOf(await logIn(tenant()), ''), undefined)
      },
    )
  }
}
