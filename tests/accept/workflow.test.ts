// Goal: the workflow server matches the specification and does more than serve files: workflows are listed, exported, imported
// elsewhere byte for byte, and run, on real guests and through crashes of every server. Method: a lab created by the product's
// own commands with two workflow servers, each at port 8281 of its own address and with its own database; curl as people type it.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { reasonToSkip, reasonWithoutTemporal, until } from '@skerry/lab'
import { attribute, childrenByLocalName, readXml, text as textOf } from '@skerry/xml'

import { startBrowser } from '../web/browser.ts'
import { readAddresses } from './workflow/addresses.ts'
import { formats, JSON_ASKED, listedIn, requireRefused, type Format } from './workflow/curl.ts'
import { drawDeaths } from './workflow/deaths.ts'
import { bootGuests, clientOf, compose, idIn, type Guests } from './workflow/guests.ts'
import {
  exportTo,
  idOf,
  importFile,
  listAll,
  openPlace,
  outputOf,
  requireCompleted,
  RUN_MS,
  runsOf,
  start,
  startSurely,
  type Place,
} from './workflow/place.ts'

const run = promisify(execFile)
const skip = reasonToSkip('host', 'small', 'cloud') ?? (await reasonWithoutTemporal()) ?? false
const LIBRARY = join(import.meta.dirname, '../../apps/workflow/library')
const EFFECTS = join(import.meta.dirname, 'workflow/effects.yaml')
const ASK = join(import.meta.dirname, 'workflow/ask.yaml')
const REACH = join(import.meta.dirname, 'workflow/reach.yaml')
const LANES = 4
const RUNS = 20
const KILLS = 5
/** Different each time; a failed storm is repeated with the seed that it printed. */
const seed = Number(process.env['SKERRY_SEED'] ?? randomInt(1_000_000))

let place: Place
let guests: Guests
before(async () => {
  if (skip === false) place = await openPlace()
})
after(() => place?.[Symbol.asyncDispose]())

const RESTART = 'Rolling restart of a vApp'
const SNAPSHOT = 'Nightly snapshot of a vApp'

test('both servers answer at port 8281, and a new one has no workflows', { skip }, async () => {
  const { first, second, curl, user } = place
  for (const { url } of [first, second]) {
    assert.equal(new URL(url).port, '8281')
    const about = await curl(...user, ...JSON_ASKED, `${url}/api/about`)
    assert.equal((JSON.parse(about.text) as Record<string, string>)['api-version'], '5.1')
  }
  assert.deepEqual(await listAll(place, second, 'json'), [])
})

test(
  'the library is imported, and its workflows are listed by name, in XML and in JSON',
  { skip },
  async () => {
    const { cloud, first, curl } = place
    for (const file of await readdir(LIBRARY)) {
      const { status, text } = await importFile(place, first, join(LIBRARY, file))
      assert.equal(status, 200, text)
      assert.equal((JSON.parse(text) as { result: string }).result, 'created')
    }
    for (const name of [RESTART, SNAPSHOT]) {
      assert.equal(await idOf(place, name, { format: 'xml' }), await idOf(place, name))
    }
    // The other organisation has none of them, and the system administrator sees all.
    const [, other] = cloud.tenants
    assert.ok(other)
    const theirs = ['-u', `${other.user}@${other.org}:${other.password}`]
    const none = await curl(...theirs, ...JSON_ASKED, `${first.url}/api/workflows`)
    assert.deepEqual(listedIn(none, 'json'), [])
    const foreign = await curl(
      ...theirs,
      `${first.url}/api/workflows/${await idOf(place, RESTART)}`,
    )
    requireRefused(foreign, 404, 'xml')
  },
)

test(
  'in the web UI a person starts a run by its form, answers its question and sees it end',
  { skip },
  async () => {
    const { cloud, first } = place
    const [tenant] = cloud.tenants
    assert.ok(tenant)
    assert.equal((await importFile(place, first, ASK)).status, 200)
    const { url } = cloud
    const port = Number(new URL(url).port)
    await using browser = await startBrowser({ url, password: tenant.password, port })
    const page = await browser.open({
      user: `${tenant.user}@${tenant.org}`,
      path: '/workflows?q=Ask',
    })
    page.setDefaultTimeout(RUN_MS)
    await page.getByRole('link', { name: 'Ask and greet' }).click()
    await page.getByLabel('Name (required)').fill('J')
    await page.getByRole('button', { name: 'Run workflow' }).click()
    await page.getByText('Enter at least 2 characters').waitFor()
    await page.getByLabel('Name (required)').fill('John')
    await page.getByRole('button', { name: 'Run workflow' }).click()
    await page.getByRole('status').getByText('Waiting for an answer').waitFor()
    await page.locator('[data-place="/do/0/asks"][data-state=running]').waitFor()
    await page.getByLabel('Word (required)').fill('Hello')
    await page.getByRole('button', { name: 'Answer' }).click()
    await page.getByRole('status').getByText('Completed').waitFor()
    await page.locator('[data-place="/do/1/greet"][data-state=done]').waitFor()
    await page.getByText('"greeting": "Hello John"').waitFor()
    assert.deepEqual(browser.problems, [])
  },
)

test(
  'an export is a readable file, and is byte-identical after import and export elsewhere',
  { skip },
  async () => {
    const { first, second, curl, user, dir } = place
    const id = await idOf(place, RESTART)
    const { file, bytes } = await exportTo(place, first, id, 'first.workflow')
    const where = `${first.url}/api/workflows/${id}`
    const zip = [...user, '-H', 'Accept: application/zip']
    const { headers } = await curl('-I', ...zip, where)
    assert.match(headers['content-type'] ?? '', /^application\/zip/)
    assert.ok(headers['content-disposition']?.includes(`filename="${RESTART}.workflow"`))
    const known = await curl(...zip, '-H', `If-None-Match: ${headers['etag']}`, where)
    assert.equal(known.status, 304)
    const opened = join(dir, 'opened')
    await mkdir(opened)
    await run('unzip', ['-q', file, '-d', opened])
    const definition = await readFile(join(opened, 'workflow.yaml'), 'utf8')
    assert.equal(definition, await readFile(join(LIBRARY, 'rolling-restart.yaml'), 'utf8'))
    const manifest = JSON.parse(await readFile(join(opened, 'manifest.json'), 'utf8')) as object
    assert.equal((manifest as { id: string }).id, id)
    const said = await importFile(place, second, file)
    assert.equal(said.status, 200, said.text)
    assert.equal(await idOf(place, RESTART, { format: 'xml', server: second }), id)
    const again = await exportTo(place, second, id, 'again.workflow')
    assert.ok(again.bytes.equals(bytes), 'byte for byte')
  },
)

test(
  'no, wrong and foreign credentials: 401 at every address, in the requested format',
  { skip },
  async () => {
    const { cloud, first, curl } = place
    const [tenant, other] = cloud.tenants
    assert.ok(tenant && other)
    // Each name is tried once: repeated guesses are rate-limited.
    const wrong = [
      `${tenant.user}@${tenant.org}:${other.password}`,
      'x:y',
      `${tenant.user}:${tenant.password}`,
    ]
    const addresses = await readAddresses()
    assert.ok(addresses.length >= 40, `${addresses.length}`)
    const requireAll = async (method: string, path: string, at: number) => {
      const ask = (format: Format, ...more: readonly string[]) =>
        curl('-X', method, ...formats[format], ...more, `${first.url}${path}`)
      const [one, another]: readonly [Format, Format] =
        at % 2 === 0 ? ['xml', 'json'] : ['json', 'xml']
      for (const format of [one, another]) requireRefused(await ask(format), 401, format)
      const nobody = `nobody-${at}@${tenant.org}:${tenant.password}`
      requireRefused(await ask(one, '-u', nobody), 401, one)
      const stranger = `${tenant.user}@elsewhere-${at}:${tenant.password}`
      requireRefused(await ask(another, '-u', stranger), 401, another)
    }
    // Each password costs the cloud as much as a right one: a few at a time, or the last would wait for all the others.
    const left = addresses.entries()
    const lanes = Array.from({ length: LANES }, async () => {
      for (const [at, [method, path]] of left) await requireAll(method, path, at)
    })
    await Promise.all(lanes)
    for (const credentials of wrong) {
      for (const format of ['xml', 'json'] as const) {
        const said = await curl(...formats[format], '-u', credentials, `${first.url}/api/workflows`)
        requireRefused(said, 401, format)
      }
    }
  },
)

test(
  'while Temporal is down workflows are listed and exported, and a start is rejected with a message',
  { skip },
  async () => {
    const { cloud, first } = place
    const id = await idOf(place, RESTART)
    const before = await exportTo(place, first, id, 'up.workflow')
    await cloud.temporal.kill9()
    for (const format of ['xml', 'json'] as const) {
      assert.equal(await idOf(place, RESTART, { format }), id)
    }
    const meanwhile = await exportTo(place, first, id, 'down.workflow')
    assert.ok(meanwhile.bytes.equals(before.bytes))
    const refused = await start(place, id, { vapp: 'vapp-00000000-0000-7000-8000-000000000000' })
    requireRefused(refused, 503, 'json')
    await cloud.temporal.start()
  },
)

test(
  'a library workflow restarts real guests one after the other, and can be followed to its end',
  { skip },
  async (t) => {
    const { first, curl, user } = place
    guests = await bootGuests(place)
    const before = await guests.boots()
    assert.equal(new Set(before).size, 2)
    const began = performance.now()
    const id = await idOf(place, RESTART)
    const said = await start(place, id, {
      vapp: guests.vapp,
      force: true,
      healthySeconds: 240,
      stableSeconds: 1,
    })
    assert.equal(said.status, 202, said.text)
    const location = said.headers['location'] ?? ''
    assert.ok(location.startsWith(`${first.url}/api/workflows/${id}/executions/`), location)
    await requireCompleted(place, location)
    t.diagnostic(`two guests restarted in ${Math.round((performance.now() - began) / 1000)} s`)
    assert.deepEqual(await outputOf(place, location), { restarted: ['a', 'b'] })
    const after = await guests.boots()
    assert.ok(
      after.every((pid, at) => pid !== before[at]),
      `${before.join()} ${after.join()}`,
    )
    for (const vm of await guests.vms()) assert.equal(attribute(vm, 'status'), '4')
    const execution = readXml((await curl(...user, location)).text)
    assert.equal(textOf(childrenByLocalName(execution, 'state')[0]), 'completed')
    const drawing = await curl(...user, `${location}schema`)
    assert.match(drawing.headers['content-type'] ?? '', /^image\/svg\+xml/)
  },
)

test(
  'the nightly snapshot takes a snapshot of each guest on schedule, and keeps it the next time',
  { skip },
  async () => {
    const { first, curl, user } = place
    const id = await idOf(place, SNAPSHOT)
    const value = { string: { value: guests.vapp } }
    const requested = {
      workflow: id,
      name: 'often',
      'every-seconds': 10,
      'time-zone': 'Europe/Berlin',
      parameters: [{ name: 'vapp', type: 'string', scope: 'local', value }],
    }
    const json = [...user, ...JSON_ASKED, '-H', 'Content-Type: application/json']
    const made = await curl(...json, '-d', JSON.stringify(requested), `${first.url}/api/schedules`)
    assert.equal(made.status, 201, made.text)
    const runs = await until(
      'the schedule has run twice',
      async () => {
        const all = await runsOf(place, id)
        return all.length >= 2 && all.every(({ ended }) => ended) ? all : undefined
      },
      RUN_MS,
    )
    const ended = await curl(...user, '-X', 'DELETE', made.headers['location'] ?? '')
    assert.equal(ended.status, 204, ended.text)
    const said: unknown[] = []
    for (const { href } of runs.toSorted((one, other) => one.began.localeCompare(other.began))) {
      await requireCompleted(place, href)
      said.push(await outputOf(place, href))
    }
    const kept = { taken: [], kept: ['a', 'b'], failed: [] }
    const [taken, ...rest] = said
    assert.deepEqual(taken, { taken: ['a', 'b'], kept: [], failed: [] })
    for (const each of rest) assert.deepEqual(each, kept)
    for (const vm of await guests.vms()) {
      const [section] = childrenByLocalName(vm, 'SnapshotSection')
      const [snapshot] = childrenByLocalName(section, 'Snapshot')
      assert.equal(attribute(snapshot, 'name'), 'nightly')
    }
  },
)

test(
  'a tenant’s workflow started by the system administrator changes nothing outside that tenant',
  { skip },
  async () => {
    const { cloud, first } = place
    const [, other] = cloud.tenants
    assert.ok(other)
    const theirs = await compose(await clientOf(cloud, other), other, 'theirs', [])
    const all = () =>
      cloud.postgres.psql(
        ['org', 'vapp', 'vm', 'task', 'metadata', 'event']
          .map((table) => {
            const whose = table === 'org' ? 'each.id' : 'each.org'
            return `select to_jsonb(each)::text from ${table} each join org on org.id = ${whose} where org.name = '${other.org}'`
          })
          .join(' union all ')
          .concat(' order by 1'),
        'cloud',
      )
    const before = await all()
    assert.match(before, /"theirs"/)
    const said = await importFile(place, first, REACH)
    assert.equal(said.status, 200, said.text)
    const id = await idOf(place, 'As far as it reaches')
    const { admin } = cloud
    const master = { ...place, user: ['-u', `${admin.user}@${admin.org}:${admin.password}`] }
    const begun = await start(master, id, { own: guests.vapp, foreign: idIn(theirs) })
    assert.equal(begun.status, 202, begun.text)
    const location = begun.headers['location'] ?? ''
    await requireCompleted(master, location)
    assert.deepEqual(await outputOf(master, location), {
      reached: ['own'],
      refused: ['look 404', 'write 404', 'delete 404', 'everybody 403'],
      seen: ['guests'],
    })
    assert.equal(await all(), before)
  },
)

test(
  '20 runs end through 5 kills, and each has its effects in the cloud exactly once',
  { skip },
  async (t) => {
    const { cloud, first } = place
    const said = await importFile(place, first, EFFECTS)
    assert.equal(said.status, 200, said.text)
    const id = await idOf(place, 'Effects that can be counted')
    t.diagnostic(`seed ${seed}`)
    const began = performance.now()
    let underWay = 0
    const runOnce = async (name: string) => {
      underWay += 1
      const accepted = await startSurely(place, id, name)
      await requireCompleted(place, accepted.location)
      underWay -= 1
      return accepted.run
    }
    const runs: Promise<string>[] = []
    for (const { who, restMs, dies } of drawDeaths(place, { seed, count: KILLS })) {
      for (let each = 0; each < RUNS / KILLS; each++) runs.push(runOnce(`run-${runs.length + 1}`))
      await sleep(restMs)
      const at = Math.round(performance.now() - began)
      t.diagnostic(`${at} ms: kill -9 of ${who}, with ${underWay} runs under way`)
      assert.ok(underWay > 0, 'a kill happens during runs')
      await dies()
    }
    const ended = await Promise.all(runs)
    assert.equal(ended.length, RUNS)
    t.diagnostic(
      `${RUNS} runs, ${KILLS} deaths, ${Math.round((performance.now() - began) / 1000)} s`,
    )
    const counted = await cloud.postgres.psql(
      `select vapp.name, task.operation, count(*) from task join vapp on vapp.id = task.vapp
      where vapp.name like 'effects of %' group by 1, 2 order by 1, 2`,
      'cloud',
    )
    const effects = new Map(
      counted
        .trim()
        .split('\n')
        .map((row): [string, number] => {
          const [name = '', operation = '', times] = row.split('|')
          return [`${name.replace('effects of ', '')} ${operation}`, Number(times)]
        }),
    )
    for (const each of ended) {
      assert.equal(effects.get(`${each} compose`), 1, each)
      assert.equal(effects.get(`${each} updateMetadata`), 3, each)
    }
    // A rejected request has no duplicate effects either, should any of it have begun.
    for (const [what, times] of effects)
      assert.ok(times <= (what.endsWith('compose') ? 1 : 3), what)
    const alive = () =>
      cloud.postgres.psql(
        "select count(*) from workflow_grant where ended_at is null and kind = 'run'",
        'cloud',
      )
    // At most 140 s (tend-runs.ts). If PostgreSQL is killed after the cloud has given a grant, neither the grant nor the rejection is
    // recorded with the run. Such a run waits 120 s for a repeated request (`unstarted.keyedSeconds`), its grant ends 10 s after it
    // (`GRANTED_SECONDS`), and each of both is seen up to 5 s late (`LOOK_MS`). The rest is for a busy machine.
    await until('no grant outlives its run', async () => (await alive()).trim() === '0', 180_000)
  },
)
