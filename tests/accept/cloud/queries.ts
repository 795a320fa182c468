// The query service for a tenant and an administrator: pages, totals, formats, and invalid queries.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { attribute, childrenByLocalName } from '@skerry/xml'

import { callerOf, wordsOfError, type Caller } from './curl.ts'
import { RUNNING } from './flow.ts'
import type { Ledger } from './links.ts'
import { logIn, skip, tenant, there } from './place.ts'

/** A vApp of two VMs that are off. */
export const PAIR = 'pair'

const named = (name: string) =>
  `<SourcedItem><Source href="${tenant().template}" name="${name}"/></SourcedItem>`

const numbers = (page: { readonly root: Parameters<typeof attribute>[0] }) =>
  ['total', 'pageSize', 'page'].map((name) => Number(attribute(page.root, name)))

export function testQueries(ledger: Ledger): void {
  test('a vApp is composed, so that there are three VMs and two vApps', { skip }, async () => {
    const client = await logIn(tenant())
    const body = `<ComposeVAppParams name="${PAIR}">${named('left')}${named('right')}</ComposeVAppParams>`
    await ledger.act(client, tenant().vdc, 'add', body, 'composeVApp')
  })

  for (const version of ['1.5', '5.1']) {
    test(
      `${version}: pages begin at 1 with 25 records, have at most 128, and totals are exact`,
      { skip },
      async () => {
        const caller = await callerOf(tenant(), version)
        const page = (how: string) => caller.ask('GET', `/api/query?type=vm&sortAsc=name${how}`)
        assert.deepEqual(numbers(await page('')), [3, 25, 1])
        assert.deepEqual(numbers(await page('&pageSize=128')), [3, 128, 1])
        assert.deepEqual(numbers(await page('&pageSize=5000')), [3, 128, 1])
        for (const wrong of ['0', '-1', 'many', '', '1.5']) {
          for (const name of ['page', 'pageSize']) {
            wordsOfError(await page(`&${name}=${wrong}`), 400, 'INVALID', version)
          }
        }
        const past = await page('&pageSize=2&page=9')
        assert.deepEqual(numbers(past), [3, 2, 9])
        assert.deepEqual(childrenByLocalName(past.root, 'VMRecord'), [])
        await walkPages(caller, await page('&pageSize=1'), ['left', 'right', 'small'])
      },
    )

    test(
      `${version}: all records in all formats, and an invalid filter is reported with its column`,
      { skip },
      async () => {
        const caller = await callerOf(tenant(), version)
        const ask = (how: string) => caller.ask('GET', `/api/query?type=vm${how}`)
        const ids = await ask('&format=idrecords&fields=name,containerName')
        for (const record of childrenByLocalName(ids.root, 'VMRecord')) {
          assert.deepEqual(Object.keys(record.attributes).toSorted(), [
            'containerName',
            'id',
            'name',
          ])
          assert.match(attribute(record, 'id') ?? '', /^urn:skerry:vm:/)
        }
        const references = await ask('&format=references')
        assert.equal(childrenByLocalName(references.root, 'VMReference').length, 3)
        const off = await ask(`&filter=(status==POWERED_OFF;containerName==${PAIR}),name==nobody`)
        assert.equal(attribute(off.root, 'total'), '2')
        const words = (how: string) =>
          ask(how).then((said) => wordsOfError(said, 400, 'INVALID', version))
        assert.match(await words('&filter=(status==POWERED_ON'), /column/)
        assert.match(
          await words('&filter=colour==red'),
          /containerName/,
          'the valid ones are listed',
        )
        assert.match(await words('&fields=name,colour'), /containerName/)
        assert.match(await words('&sortAsc=colour'), /containerName/)
        assert.match(await words('&format=poem'), /idrecords/)
        const moon = await caller.ask('GET', '/api/query?type=moon')
        assert.match(wordsOfError(moon, 400, 'INVALID', version), /\bvm\b/)
        // The first version is case-insensitive.
        const loud = await ask(`&filter=containerName==${RUNNING.toUpperCase()}`)
        assert.equal(attribute(loud.root, 'total'), version === '1.5' ? '1' : '0')
      },
    )

    test(
      `${version}: adminVM covers all organisations for the administrator, and is 403 for a tenant`,
      { skip },
      async () => {
        const ruler = await callerOf(there().cloud.admin, version)
        const all = await ruler.ask('GET', '/api/query?type=adminVM')
        assert.equal(all.status, 200)
        const records = childrenByLocalName(all.root, 'AdminVMRecord')
        assert.equal(attribute(all.root, 'total'), '4')
        assert.equal(new Set(records.map((each) => attribute(each, 'org'))).size, 2)
        const on = await ruler.ask(
          'GET',
          '/api/query?type=adminVM&filter=status==POWERED_ON&fields=name,containerName',
        )
        assert.deepEqual(
          childrenByLocalName(on.root, 'AdminVMRecord').map((each) =>
            attribute(each, 'containerName'),
          ),
          [RUNNING],
        )
        const own = await ruler.ask('GET', '/api/query?type=vm')
        assert.equal(attribute(own.root, 'total'), '0', 'of the organisation System')
        for (const login of [tenant(), tenant(1)]) {
          const caller = await callerOf(login, version)
          for (const where of ['/api/query?type=adminVM', '/api/admin/extension/vms/query']) {
            wordsOfError(await caller.ask('GET', where), 403, 'FORBIDDEN', version)
          }
        }
        const other = await callerOf(tenant(1), version)
        const theirs = await other.ask('GET', '/api/query?type=vm')
        assert.equal(attribute(theirs.root, 'total'), '1')
      },
    )
  }
}

/** From the first page to the last by nextPage and back by previousPage, one record on each. */
async function walkPages(
  caller: Caller,
  first: Awaited<ReturnType<Caller['ask']>>,
  names: readonly string[],
): Promise<void> {
  const links = (page: typeof first) =>
    new Map(
      childrenByLocalName(page.root, 'Link').map((each) => [
        attribute(each, 'rel') ?? '',
        attribute(each, 'href') ?? '',
      ]),
    )
  const rels = (page: typeof first) => [...links(page).keys()].filter((rel) => rel.endsWith('Page'))
  const forward = ['nextPage', 'lastPage']
  const back = ['firstPage', 'previousPage']
  let page = first
  for (const [at, name] of names.entries()) {
    assert.deepEqual(numbers(page), [names.length, 1, at + 1])
    assert.equal(attribute(childrenByLocalName(page.root, 'VMRecord')[0], 'name'), name)
    const expected = [...(at > 0 ? back : []), ...(at < names.length - 1 ? forward : [])]
    assert.deepEqual(rels(page), expected)
    if (at === 0) {
      const last = await caller.ask('GET', links(page).get('lastPage') ?? '')
      assert.deepEqual(numbers(last), [names.length, 1, names.length])
    }
    const next = links(page).get('nextPage')
    if (next !== undefined) page = await caller.ask('GET', next)
  }
  for (const at of names.keys().toArray().slice(0, -1).toReversed()) {
    page = await caller.ask('GET', links(page).get('previousPage') ?? '')
    assert.deepEqual(numbers(page), [names.length, 1, at + 1])
  }
}
