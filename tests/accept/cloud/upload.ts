// A user's image: announced by the catalog's link, sent in two parts, turned into a template, and started.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

import { guestImage } from '@skerry/lab'
import { attribute } from '@skerry/xml'

import { taskOf } from '../../../apps/cloud/test/cloud-client.ts'
import { SHARED, type Ledger } from './links.ts'
import { BOOT_MS, domainOf, kernelOf, logIn, nodesIn, skip, tenant, vmsOf } from './place.ts'

const hrefOf = (node: Parameters<typeof attribute>[0]): string => attribute(node, 'href') ?? ''

export function testUpload(ledger: Ledger): void {
  test('an image is uploaded in two parts, and a VM of it boots', { skip }, async () => {
    const client = await logIn(tenant())
    const image = await readFile(await guestImage('small'))
    const half = Math.floor(image.length / 2)
    const sha256 = createHash('sha256').update(image).digest('hex')
    const records = await client.get('/api/query?type=catalog&fields=name')
    const catalog = hrefOf(nodesIn(records, 'CatalogRecord')[0])
    await ledger.follow(client, catalog, 'controlAccess', { body: SHARED })
    const announce = (name: string) =>
      ledger.follow(client, catalog, 'add', {
        body: `<UploadParams name="${name}" size="${image.length}" sha256="${sha256}" memoryMB="128"/>`,
        end: 'upload',
      })
    const { status, root } = await announce('own')
    assert.equal(status, 201)
    const link = nodesIn(root, 'Link').find((each) => attribute(each, 'rel') === 'upload:default')
    assert.ok(root && link)
    ledger.keep(root)
    const send = (from: number, to: number) =>
      client.ask('PUT', hrefOf(link), {
        headers: { 'content-range': `bytes ${from}-${to - 1}/${image.length}` },
        body: image.subarray(from, to),
      })
    assert.equal((await send(0, half)).status, 200)
    const [file] = nodesIn(await client.get(hrefOf(root)), 'File')
    assert.equal(attribute(file, 'bytesTransferred'), String(half))
    const whole = await send(half, image.length)
    assert.equal(whole.status, 201, whole.text)
    ledger.note(root, link)

    const template = hrefOf(nodesIn(whole.root, 'Entity')[0])
    const made = await client.ask('POST', `${tenant().vdc}/action/instantiateVAppTemplate`, {
      body: `<InstantiateVAppTemplateParams name="own" powerOn="true"><Source href="${template}"/></InstantiateVAppTemplateParams>`,
    })
    const task = await client.ended(taskOf(made.root), BOOT_MS)
    assert.equal(attribute(task, 'status'), 'success', made.text)
    const vapp = hrefOf(made.root)
    const [vm = ''] = await vmsOf(client, vapp)
    assert.match(await kernelOf(await domainOf(vm)), /\S/, 'its guest is up')
    await ledger.act(client, vapp, 'power:powerOff')
    await ledger.act(client, vapp, 'remove')

    const never = await announce('never')
    assert.ok(never.root)
    ledger.keep(never.root)
    assert.equal((await ledger.follow(client, hrefOf(never.root), 'remove')).status, 204)
  })
}
