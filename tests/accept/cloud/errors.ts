// Errors of every kind by curl: status, codes, version, and a message that says what to do.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { attribute, childrenByLocalName } from '@skerry/xml'

import { accept, callerOf, curl, headerOf, whole, wordsOfError, type Caller } from './curl.ts'
import { skip, tenant, there } from './place.ts'

const VERSIONS = ['1.5', '5.1'] as const
const NOBODYS = '01980000-0000-7000-8000-00000000abcd'
const TRIES = 5

async function anyVm(caller: Caller): Promise<string> {
  const found = await caller.ask('GET', '/api/vms/query?fields=name')
  return attribute(childrenByLocalName(found.root, 'VMRecord')[0], 'href') ?? ''
}

export function testErrors(): void {
  for (const version of VERSIONS) {
    test(
      `${version}: 401 without a token, with a wrong one, with the cookie alone, with a wrong password`,
      { skip },
      async () => {
        const { user, org, password } = tenant()
        const caller = await callerOf(tenant(), version)
        const ways = [
          [],
          ['-H', 'x-cloud-authorization: guess'],
          ['-H', `Cookie: cloud-token=${caller.token}`],
          ['-u', `${user}@${org}:${password}`],
        ]
        for (const way of ways) {
          const said = await curl('-H', accept(version), ...way, whole('/api/org'))
          assert.match(wordsOfError(said, 401, 'UNAUTHENTICATED', version), /log in/)
          assert.match(headerOf(said, 'www-authenticate') ?? '', /^Basic realm="/)
        }
        for (const name of [`${user}@nowhere`, `nobody@${org}`, user]) {
          const basic = ['-X', 'POST', '-u', `${name}:${password}`]
          const said = await curl('-H', accept(version), ...basic, whole('/api/sessions'))
          wordsOfError(said, 401, 'UNAUTHENTICATED', version)
          assert.ok(headerOf(said, 'www-authenticate'))
          assert.equal(headerOf(said, 'x-cloud-authorization'), undefined)
        }
        assert.equal((await caller.ask('GET', '/api/org')).status, 200, 'it was valid all the time')
      },
    )

    test(
      `${version}: 403 without the right; 404 for a missing resource, byte-identical for another tenant’s`,
      { skip },
      async () => {
        const caller = await callerOf(tenant(), version)
        const other = await callerOf(tenant(1), version)
        for (const where of ['/api/admin', '/api/admin/hosts', '/api/query?type=host']) {
          wordsOfError(await caller.ask('GET', where), 403, 'FORBIDDEN', version)
        }
        const theirs = await anyVm(other)
        const foreign = [theirs, tenant(1).vdc, tenant(1).template]
        for (const href of foreign) {
          const path = new URL(href).pathname
          const unknown = path.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, NOBODYS)
          const [found, none] = [await caller.ask('GET', path), await caller.ask('GET', unknown)]
          wordsOfError(found, 404, 'NOT_FOUND', version)
          assert.deepEqual(
            [found.status, found.type, found.text],
            [none.status, none.type, none.text],
          )
        }
        for (const action of [
          'power/action/powerOn',
          'action/deploy',
          'screen/action/acquireTicket',
        ]) {
          wordsOfError(await caller.ask('POST', `${theirs}/${action}`), 404, 'NOT_FOUND', version)
        }
        wordsOfError(await caller.ask('DELETE', theirs), 404, 'NOT_FOUND', version)
        for (const where of ['/api/moon', '/api/vApp/vm-1', '/api/vApp/', '/api/task/x']) {
          wordsOfError(await caller.ask('GET', where), 404, 'NOT_FOUND', version)
        }
        wordsOfError(await caller.ask('DELETE', '/api/org'), 404, 'NOT_FOUND', version)
      },
    )

    test(
      `${version}: 409 in the wrong state, for a duplicate name and for a key with another body`,
      { skip },
      async () => {
        const caller = await callerOf(tenant(), version)
        const off = await callerOf(tenant(1), version)
        const vm = await anyVm(off)
        for (const action of [
          'power/action/reset',
          'power/action/suspend',
          'power/action/reboot',
        ]) {
          const said = await off.ask('POST', `${vm}/${action}`)
          assert.match(wordsOfError(said, 409, 'CONFLICT', version), /POWERED_ON/, action)
        }
        const running = await anyVm(caller)
        wordsOfError(await caller.ask('DELETE', running), 409, 'CONFLICT', version)
        const [record] = childrenByLocalName(
          (await caller.ask('GET', '/api/vApps/query?fields=name')).root,
          'VAppRecord',
        )
        const make = (name: string, ...words: readonly string[]) =>
          caller.ask(
            ...(['POST', `${tenant().vdc}/action/composeVApp`] as const),
            '-d',
            `<ComposeVAppParams name="${name}"/>`,
            ...words,
          )
        const taken = attribute(record, 'name') ?? ''
        assert.match(wordsOfError(await make(taken), 409, 'CONFLICT', version), new RegExp(taken))
        const key = ['-H', `Idempotency-Key: errors-${version}`]
        const first = await make(`keyed ${version}`, ...key)
        assert.equal(first.status, 201, first.text)
        const again = await make(`keyed ${version}`, ...key)
        assert.equal(attribute(again.root, 'href'), attribute(first.root, 'href'))
        wordsOfError(await make(`other ${version}`, ...key), 409, 'CONFLICT', version)
        const gone = await caller.ask('DELETE', attribute(first.root, 'href') ?? '')
        assert.equal(gone.status, 202)
      },
    )

    test(
      `${version}: 400 for bodies that are invalid, too large, or of the wrong type`,
      { skip },
      async () => {
        const caller = await callerOf(tenant(), version)
        const path = `${tenant().vdc}/action/instantiateVAppTemplate`
        const bodies = [
          '',
          'hello',
          '<InstantiateVAppTemplateParams name="x">',
          '<Other name="x"/>',
          '<InstantiateVAppTemplateParams/>',
          '<InstantiateVAppTemplateParams name="x"><Source href="nowhere"/></InstantiateVAppTemplateParams>',
          `<InstantiateVAppTemplateParams name="x"><Source href="${tenant(1).template}"/></InstantiateVAppTemplateParams>`,
          '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><InstantiateVAppTemplateParams name="&x;"/>',
          `<InstantiateVAppTemplateParams name="${'x'.repeat(70_000)}"/>`,
        ]
        for (const body of bodies) {
          const said = await caller.ask('POST', path, '-d', body)
          wordsOfError(said, 400, 'INVALID', version)
          assert.doesNotMatch(said.text, /root:/)
        }
        const vm = await anyVm(caller)
        const word =
          '<UndeployVAppParams><UndeployPowerAction>melt</UndeployPowerAction></UndeployVAppParams>'
        const said = await caller.ask('POST', `${vm}/action/undeploy`, '-d', word)
        assert.match(wordsOfError(said, 400, 'INVALID', version), /powerOff.*suspend.*shutdown/)
        const type = await caller.ask('GET', '/api/vms/query?type=vm')
        wordsOfError(type, 400, 'INVALID', version)
      },
    )
  }

  test(
    '406 without a version or with an unknown one: it lists the supported versions',
    { skip },
    async () => {
      const caller = await callerOf(tenant(), '5.1')
      const own = ['-H', `x-cloud-authorization: ${caller.token}`]
      for (const [header, version] of [
        ['Accept: */*', '1.5'],
        ['Accept: application/*+xml', '1.5'],
        ['Accept: application/*+xml;version=9.9', '1.5'],
        ['Accept: application/*+xml;version=5.10', '1.5'],
      ] as const) {
        const said = await curl('-H', header, ...own, whole('/api/org'))
        const words = wordsOfError(said, 406, 'NOT_ACCEPTABLE', version)
        assert.match(words, /1\.5.*5\.1/)
      }
      // As some clients of the original API send it.
      const lenient = await curl(
        '-H',
        'Accept: vnd.skerry.cloud.org+xml;version=5.5',
        ...own,
        whole('/api/org'),
      )
      assert.equal(lenient.status, 200)
      assert.match(lenient.type, /;version=5\.5$/)
    },
  )

  test(
    '429 with Retry-After after five wrong passwords, for that account only',
    { skip },
    async () => {
      const { org } = tenant()
      const password = 'a password that nobody guesses'
      await there().cloud.administer(['user', 'create', `eve@${org}`, '--role', 'user'], password)
      const tryAs = (user: string, word: string) =>
        curl(
          '-X',
          'POST',
          '-H',
          accept('5.1'),
          '-u',
          `${user}@${org}:${word}`,
          whole('/api/sessions'),
        )
      for (let at = 0; at < TRIES; at += 1) {
        wordsOfError(await tryAs('eve', `guess ${at}`), 401, 'UNAUTHENTICATED')
      }
      const said = await tryAs('eve', 'guess again')
      wordsOfError(said, 429, 'TOO_MANY')
      assert.match(headerOf(said, 'retry-after') ?? '', /^[1-9]\d*$/)
      const { user, password: own } = tenant()
      assert.equal((await tryAs(user, own)).status, 200)
    },
  )
}
