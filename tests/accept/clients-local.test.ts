// Goal: the two known clients of the local API work. Method: their recorded requests, header by header, in their order, on a host
// with a real guest; the traffic is compared with a readable record. Neither sends what a current library would: one sends no
// Content-Type at all, the other bare words as JSON.
import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonToSkip } from '@skerry/lab'

import { holdToRecord } from './clients/record.ts'
import type { Exchange } from './clients/recorder.ts'
import { BASE, curlOn, type Answer } from './curl.ts'
import { startVmdPlace, type VmdPlace } from './vmd-place.ts'

const skip = reasonToSkip('host', 'small') ?? false
/** Both poll for an address at this interval, and at most that many times. */
const LOOK_MS = 2000
const LOOKS = 60

let place: VmdPlace
before(async () => {
  if (skip === false) place = await startVmdPlace()
})
after(() => place?.[Symbol.asyncDispose]())

const { curl } = curlOn(() => place.host)

type Ask = (method: string, path: string, body?: string) => Promise<Answer>

/** Sends exactly these headers, and records the traffic. An empty header is not sent. */
function client(headers: Readonly<Record<string, string>>, exchanges: Exchange[]): Ask {
  return async (method, path, body) => {
    const words = Object.entries(headers).flatMap(([name, value]) => [
      '-H',
      `${name}: ${value}`.trim(),
    ])
    const data = body === undefined ? [] : ['--data-binary', body]
    const answer = await curl('-X', method, ...words, ...data, `${BASE}${path}`)
    exchanges.push({
      method,
      path,
      status: answer.status,
      sent: { headers, body: Buffer.from(body ?? '') },
      said: { headers: { 'content-type': answer.type }, body: Buffer.from(answer.text) },
    })
    return answer
  }
}

const messageOf = ({ body }: Answer): string => (body as { readonly message: string }).message

/** The status is one of these; otherwise the answer's words are in the failure. */
const expect = ({ status, text }: Answer, ...wanted: readonly number[]): void =>
  assert.ok(wanted.includes(status), `${status} instead of ${wanted.join(' or ')}: ${text}`)

/** Repeats a request only if the status is an error, as both clients do. */
async function addressOf(ask: Ask, id: string): Promise<string> {
  for (let look = 0; look < LOOKS; look += 1) {
    const answer = await ask('GET', `/api/vms/${id}/ipaddress`)
    if (answer.status === 200) return messageOf(answer)
    await sleep(LOOK_MS)
  }
  return assert.fail(`${id} has no address after ${LOOKS} looks`)
}

const known = (address: string) => ({ '{address}': address, '{directory}': place.dir })

suite('clients of the local API', { skip }, () => {
  test('the driver in Go: create, folders, power, address, restart, delete', async () => {
    const exchanges: Exchange[] = []
    const ask = client({ 'User-Agent': 'Go-http-client/1.1', 'Content-Type': '' }, exchanges)
    const made = await ask('POST', '/api/vms', '{"id":"box","name":"box","tag":"docker"}')
    expect(made, 200, 201)
    assert.equal((made.body as { id: string }).id, 'box')
    assert.deepEqual((await ask('GET', '/api/vms')).body, ['box'])
    expect(await ask('PATCH', '/api/vms/power/box', 'on'), 200)
    assert.equal(messageOf(await ask('GET', '/api/vms/power/box')), 'powered on')
    const address = await addressOf(ask, 'box')
    assert.match(address, /^\d+(\.\d+){3}$/)
    expect(await ask('PATCH', '/api/vms/box/folders', 'true'), 200)
    const folder = { guestPath: 'work', hostPath: join(place.dir, 'work'), flags: 4 }
    await mkdir(folder.hostPath)
    expect(await ask('POST', '/api/vms/box/folders', JSON.stringify(folder)), 201)
    assert.deepEqual((await ask('GET', '/api/vms/box/folders')).body, ['work'])
    assert.deepEqual((await ask('GET', '/api/vms/box/folders/work')).body, folder)
    expect(await ask('DELETE', '/api/vms/box/folders/work'), 204)
    for (const word of ['shutdown', 'on', 'off']) {
      expect(await ask('PATCH', '/api/vms/power/box', word), 200)
      if (word === 'on') await addressOf(ask, 'box')
    }
    expect(await ask('DELETE', '/api/vms/box', '{"id":"box"}'), 204)
    await holdToRecord('local-go', exchanges, known(address))
  })

  test('the plugin in Ruby: version, import of a clone, power, folders, halt, delete', async () => {
    const exchanges: Exchange[] = []
    const json = 'application/json'
    const ask = client({ 'User-Agent': 'Ruby', Accept: json, 'Content-Type': json }, exchanges)
    const { body } = await ask('GET', '/json/swagger.json')
    assert.match((body as { info: { version: string } }).info.version, /^1\.0\.0/)
    // Details that do not matter here are long, and documented in the API reference.
    exchanges.pop()
    await ask('POST', '/api/vms', '{"id":"parent","name":"parent","tag":"vagrant"}')
    const clone = { id: 'vagrant-1', name: 'vagrant-1', tag: 'vagrant', parentid: 'parent' }
    expect(await ask('POST', '/api/vms', JSON.stringify(clone)), 201)
    expect(await ask('PATCH', '/api/vms/power/vagrant-1', 'on'), 200)
    const address = await addressOf(ask, 'vagrant-1')
    assert.deepEqual((await ask('GET', '/api/vms/vagrant-1/folders')).body, [])
    expect(await ask('PATCH', '/api/vms/vagrant-1/folders', 'true'), 200)
    const folder = { guestPath: 'vagrant', hostPath: join(place.dir, 'vagrant'), flags: 4 }
    await mkdir(folder.hostPath)
    const at = '/api/vms/vagrant-1/folders'
    expect(await ask('POST', at, JSON.stringify(folder)), 201)
    const nobody = await ask('PATCH', '/api/vms/power/nobody', 'on')
    expect(nobody, 404)
    assert.equal((nobody.body as { code: number }).code, 404, 'every error is JSON')
    expect(await ask('PATCH', '/api/vms/power/vagrant-1', 'suspend'), 200)
    assert.equal(messageOf(await ask('GET', '/api/vms/power/vagrant-1')), 'suspended')
    expect(await ask('PATCH', '/api/vms/power/vagrant-1', 'on'), 200)
    expect(await ask('PATCH', '/api/vms/power/vagrant-1', 'off'), 200)
    for (const id of ['vagrant-1', 'parent']) {
      expect(await ask('DELETE', `/api/vms/${id}`), 204)
    }
    assert.deepEqual((await ask('GET', '/api/vms')).body, [])
    await holdToRecord('local-ruby', exchanges, known(address))
  })
})
