// Goal: docs/reference/api/local.md is correct when followed with curl. Method: its curl lines, read from the document and run in order by
// a shell on a host with vmd and a real guest; every stated status is checked, with the body below it.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { guestImage, reasonToSkip, startHost, until, type LabHost } from '@skerry/lab'

const skip = reasonToSkip('host', 'small') ?? false
const DOCUMENT = join(import.meta.dirname, '../../docs/reference/api/local.md')
const BOOT_MS = 120_000

interface Section {
  readonly title: string
  readonly line: string
  /** The body below a status, or undefined if there is none. */
  readonly stated: ReadonlyMap<number, unknown>
}

interface Answer {
  readonly status: number
  readonly body: unknown
}

function readSections(text: string): readonly Section[] {
  return text
    .split(/^## (?=\d+\. )/m)
    .slice(1)
    .map((part) => {
      const line = /^```\n(curl .*)\n```$/m.exec(part)?.[1] ?? ''
      const bodies = [...part.matchAll(/^`(\d{3})`.*\n(?:```json\n(.*)\n```)?/gm)]
      const stated = bodies.map(
        ([, status, body]) =>
          [Number(status), body === undefined ? undefined : (JSON.parse(body) as unknown)] as const,
      )
      return { title: part.split('\n')[0] ?? '', line, stated: new Map(stated) }
    })
}

async function run(host: LabHost, line: string): Promise<Answer> {
  const command = line.replace(/^curl /, "curl -sS -m 120 -w '\\n%{http_code}' ")
  const { stdout, stderr } = await host.run(['bash', '-c', command])
  const end = stdout.lastIndexOf('\n')
  assert.match(stdout.slice(end + 1), /^[1-5]\d\d$/, `${line}: ${stderr}`)
  const text = stdout.slice(0, end)
  return { status: Number(stdout.slice(end + 1)), body: text === '' ? undefined : JSON.parse(text) }
}

/** The address is assigned to the guest at run time. */
const withoutAddress = (body: unknown): unknown =>
  JSON.parse(JSON.stringify(body ?? null).replace(/"\d+\.\d+\.\d+\.\d+"/, '"ADDRESS"'))

test('every curl line of the local API’s document returns what it says', { skip }, async (t) => {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'docs-api-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const host = stack.use(await startHost({ dir: join(dir, 'host') }))
  await host.startVmd()
  const began = performance.now()
  const image = JSON.stringify({ file: await guestImage('small') })
  const made = await run(host, `curl -d '${image}' 'http://127.0.0.1:8080/api/templates?default'`)
  assert.equal(made.status, 201)
  // A home directory that only this host has.
  await host.run(['sh', '-c', 'mount -t tmpfs tmpfs /home && mkdir -p /home/me/docs'])

  const sections = readSections(await readFile(DOCUMENT, 'utf8'))
  assert.deepEqual(
    sections.map(({ title }) => Number.parseInt(title, 10)),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
  )
  const met = new Set<string>()
  const meet = async ({ title, line, stated }: Section): Promise<number> => {
    const { status, body } = await run(host, line)
    assert.ok(stated.has(status), `${title}: ${status} is not stated: ${JSON.stringify(body)}`)
    const wanted = stated.get(status)
    if (wanted !== undefined) assert.deepEqual(withoutAddress(body), withoutAddress(wanted), title)
    met.add(`${title}: ${status}`)
    return status
  }

  const [, , , get, power, , address, , , , , , remove] = sections
  assert.ok(get && power && address && remove)
  for (const section of sections) {
    // As the document says of this one: not while it is on.
    if (section === remove) await run(host, power.line.replace('-d on', '-d off'))
    await meet(section)
    // Requests that were 409 before the VM was on.
    if (section === power) await meet(get)
    if (section === address) {
      await until('it has an address', async () => (await meet(address)) === 200, BOOT_MS)
    }
  }
  const stated = sections.flatMap((each) =>
    [...each.stated.keys()].map((status) => `${each.title}: ${status}`),
  )
  assert.deepEqual([...met].sort(), stated.sort())
  t.diagnostic(`${met.size} statuses in ${((performance.now() - began) / 1000).toFixed(1)} s`)
})
