// Goal: a waiting task shows its reason in its document, in a query, in the command line and in the events. Method: every reason
// of the table is caused in a cloud with real PostgreSQL and Temporal and simulated hosts, one host for each case, then read in all
// four places. A reason without a case fails.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import { until } from '@skerry/lab'
import { type SimulatedHost } from '@skerry/lab/simulated-host'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { attribute, childrenByLocalName, text as textOf, type Element } from '@skerry/xml'
import { sql } from 'kysely'

import type { Profile } from '../../cli/src/profiles/profiles.ts'
import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import type { VappId } from '../src/domain/ids.ts'
import { waitReasons, type WaitReasonName } from '../src/domain/wait-reasons.ts'
import { operationNamed } from '../src/operations/vm-operations.ts'
import { submitTask } from '../src/tasks/submit-task.ts'
import { taskOf, type CloudClient } from './cloud-client.ts'
import { DIGEST } from './cloud-database.ts'
import { startSmallCloud, untilOpen, type SmallCloud } from './small-cloud.ts'

const PER_HOST = 2
const PER_ORG = 40
const WITHIN_MS = 120_000
/** Cases that run at the same time. */
const AT_ONCE = 4
/** With a hundred requests per second a cell would have no time for its hosts. */
const AGAIN_MS = 200

/** A separate VM on a separate host. */
interface Place {
  readonly host: SimulatedHost & { readonly id: HostId }
  readonly vm: VmId
  readonly vapp: VappId
}

/** Makes a task wait for the reason; returns the path of the task. */
type Cause = (place: Place) => Promise<string>

let cloud: SmallCloud
let client: CloudClient

const failing = (host: SimulatedHost): void => {
  host.step = () => Promise.reject(new Fault('unavailable', 'libvirt does not answer'))
}
const run = (statement: ReturnType<typeof sql>) => statement.execute(cloud.db)
const ask = async (path: string, body?: string): Promise<string> => {
  const { status, text, root } = await client.ask('POST', path, body === undefined ? {} : { body })
  assert.ok(status === 201 || status === 202, `${path}: ${status} ${text}`)
  return taskOf(root)
}
const power = (vm: VmId, what: string) => ask(`/api/vApp/vm-${vm}/power/action/${what}`)
/** Marks the host as not listed, and prevents a new session. */
const silence = async ({ host }: Place): Promise<void> => {
  host.follow = () => {
    throw new Fault('unavailable', 'the host does not answer')
  }
  await run(sql`update host set list_session = 0 where id = ${host.id}`)
}
const copy = async ({ vapp }: Place): Promise<string> => {
  const { vdc } = await client.start()
  const body = `<CloneVAppParams name="copy-${vapp}"><Source href="/api/vApp/vapp-${vapp}"/></CloneVAppParams>`
  return ask(`${vdc}/action/cloneVApp`, body)
}
/** Other VMs that are claimed for an hour. */
const addHeld = ({ vm }: Place, count: number, isPlaced: boolean) =>
  run(sql`insert into vm (org, vapp, name, image, cpus, memory_mib, disk_mib, status, host, holder, lease_until)
    select vm.org, vm.vapp, 'held-' || n, ${DIGEST}, 1, 64, 64, 'UNRESOLVED',
      case when ${isPlaced} then vm.host end, 'another', clock_timestamp() + interval '1 h'
    from vm, generate_series(1, ${sql.lit(count)}) n where vm.id = ${vm}`)

/** Cases about one VM or one host: they run concurrently. */
const apart: Partial<Record<WaitReasonName, Cause>> = {
  async turn({ host, vm }) {
    failing(host)
    await power(vm, 'powerOn')
    return power(vm, 'powerOff')
  },
  async order({ host, vm, vapp }) {
    failing(host)
    await run(sql`insert into vm (org, vapp, name, image, cpus, memory_mib, disk_mib, status, host, incarnation, start_order)
      select org, vapp, 'second', image, 1, 64, 64, status, host, incarnation, 1 from vm where id = ${vm}`)
    await ask(`/api/vApp/vapp-${vapp}/power/action/powerOn`)
    const { id } = await cloud.db
      .selectFrom('task')
      .select('id')
      .where('vapp', '=', vapp)
      .where('vm', 'is not', null)
      .where('operation', '=', 'powerOn')
      .orderBy('rank', 'desc')
      .executeTakeFirstOrThrow()
    return `/api/task/${id}`
  },
  async source(place) {
    failing(place.host)
    await power(place.vm, 'powerOn')
    await power(place.vm, 'powerOff')
    return copy(place)
  },
  async 'source-host'(place) {
    await silence(place)
    return copy(place)
  },
  async 'host-out'({ host, vm }) {
    await run(sql`update host set state = 'revoked' where id = ${host.id}`)
    return power(vm, 'powerOn')
  },
  async 'host-quarantine'({ host, vm }) {
    await run(sql`update host set quarantine = 'because' where id = ${host.id}`)
    return power(vm, 'powerOn')
  },
  async 'host-silent'(place) {
    await silence(place)
    return power(place.vm, 'powerOn')
  },
  async 'pending-undo'({ host, vm }) {
    failing(host)
    await run(sql`insert into pending_undo (host, vm, incarnation, goal, task)
      select host, id, incarnation, '{"goal": "power", "to": "off"}', id from vm where id = ${vm}`)
    return power(vm, 'powerOn')
  },
  async claim({ vm }) {
    await run(sql`update vm set holder = 'another', lease_until = clock_timestamp() + interval '1 h'
      where id = ${vm}`)
    return power(vm, 'powerOn')
  },
  async 'host-limit'(place) {
    await addHeld(place, PER_HOST, true)
    return power(place.vm, 'powerOn')
  },
  /** The sweep has sent a wake-up that was not answered. */
  async worker({ vm }) {
    const { id } = await cloud.db.transaction().execute(async (tx) => {
      const task = await submitTask(tx, operationNamed('powerOn'), { vm, owner: 'alice' })
      await sql`update vm set wake_attempts = 1, woken_at = clock_timestamp() + interval '1 h'
        where id = ${vm}`.execute(tx)
      return task
    })
    return `/api/task/${id}`
  },
  async retry({ host, vm }) {
    failing(host)
    return power(vm, 'powerOn')
  },
}

/** Cases about the organisation or the whole cloud: they run one after the other. */
const alone: Partial<Record<WaitReasonName, Cause>> = {
  async room(place) {
    await run(sql`update host set enabled = (id = ${place.host.id})`)
    await silence(place)
    const { root, text } = await client.instantiate('roomless', { power: false })
    assert.notEqual(taskOf(root), '', text)
    return taskOf(root)
  },
  async 'org-limit'(place) {
    await addHeld(place, PER_ORG, false)
    return power(place.vm, 'powerOn')
  },
}

const names = waitReasons.map(({ name }) => name)
const placeOf = new Map<WaitReasonName, Place>()

before(async () => {
  const claims = { perHost: PER_HOST, perOrg: PER_ORG }
  cloud = await startSmallCloud({ hosts: names.length, claims })
  await untilOpen(cloud.db, names.length)
  client = await cloud.logIn()
  for (const [at, name] of names.entries()) {
    const host = cloud.hosts[at]
    assert.ok(host)
    await sql`update host set enabled = (id = ${host.id})`.execute(cloud.db)
    const { root } = await client.instantiate(name, { power: false })
    const ended = await client.ended(taskOf(root))
    assert.equal(attribute(ended, 'status'), 'success')
    const { id: vm, vapp } = await cloud.db
      .selectFrom('vm')
      .select(['id', 'vapp'])
      .where('host', '=', host.id)
      .executeTakeFirstOrThrow()
    placeOf.set(name, { host, vm, vapp })
  }
})
after(() => cloud[Symbol.asyncDispose]())

const idOf = (task: string): TaskId => (task.split('/').at(-1) ?? '') as TaskId

/** A pattern for the text of a reason, with any filled-in values. */
const wordsOf = (reason: WaitReasonName): RegExp => {
  const { words = '' } = waitReasons.find(({ name }) => name === reason) ?? {}
  return new RegExp(words.replaceAll('{task}', '[0-9a-f-]{36}').replaceAll('{time}', '[0-9TZ:.-]+'))
}

async function inDocument(task: string, reason: WaitReasonName): Promise<Element> {
  let waiting: Element | undefined
  const seen = async () => {
    waiting = childrenByLocalName(await client.get(task), 'Waiting')[0]
    if (attribute(waiting, 'reason') === reason) return true
    await sleep(AGAIN_MS)
    return false
  }
  await until(`the document has ${reason}`, seen, WITHIN_MS)
  assert.match(attribute(waiting, 'message') ?? '', wordsOf(reason))
  assert.notEqual(attribute(waiting, 'next'), '')
  const asBefore = await cloud.logInAsBefore()
  const reported = async () => {
    const document = await asBefore.get(task.replace(/^https:\/\/[^/]+/, ''))
    const details = textOf(childrenByLocalName(document, 'Details')[0]) ?? ''
    if (wordsOf(reason).test(details)) return true
    await sleep(AGAIN_MS)
    return false
  }
  await until(`clients of the original API get ${reason}`, reported, WITHIN_MS)
  return waiting as Element
}

/** A late lease may change the reason for a moment, and back: one look may see the other. */
const eventually = <T>(what: string, look: () => Promise<T>) =>
  until(what, look, WITHIN_MS, AGAIN_MS)

async function inQuery(task: string, reason: WaitReasonName): Promise<void> {
  const filter = encodeURIComponent(`waitReason==${reason}`)
  await eventually(`a query finds ${reason}`, async () => {
    const found = await client.get(`/api/query?type=task&pageSize=128&filter=${filter}`)
    const record = childrenByLocalName(found, 'TaskRecord').find((each) =>
      attribute(each, 'href')?.endsWith(idOf(task)),
    )
    return wordsOf(reason).test(attribute(record, 'waitMessage') ?? '')
  })
}

/** Every task.waiting of the task, until there is one with the reason. */
async function inEvents(task: string, reason: WaitReasonName): Promise<readonly string[]> {
  const stop = new AbortController()
  const late = setTimeout(() => stop.abort(), WITHIN_MS)
  const reasons: string[] = []
  const events = await client.open('GET', '/api/events?after=0-0', { signal: stop.signal })
  try {
    let text = ''
    for await (const chunk of events as AsyncIterable<Buffer>) {
      text += chunk.toString('utf8')
      const whole = text.split('\n\n')
      text = whole.pop() ?? ''
      for (const each of whole.filter((block) => block.includes('event: task.waiting'))) {
        const data = /^data: (.*)$/m.exec(each)?.[1] ?? '{}'
        const reported = JSON.parse(data) as { task: string; reason: string; words: string }
        if (reported.task !== idOf(task)) continue
        reasons.push(reported.reason)
        if (reported.reason === reason) assert.match(reported.words, wordsOf(reason))
      }
      if (reasons.includes(reason)) break
    }
  } finally {
    clearTimeout(late)
    stop.abort()
  }
  return reasons
}

const profiles = () => {
  const token = client.headers['x-cloud-authorization'] ?? ''
  const url = cloud.cells[0]?.url ?? ''
  const work: Profile = { url, user: 'alice@eng', token, ca: cloud.ca }
  return keptProfiles({ active: 'work', clouds: { work } })
}

async function inCommands(task: string, reason: WaitReasonName): Promise<void> {
  const says = (words: readonly string[], ...lines: readonly RegExp[]) =>
    eventually(`skerry ${words.join(' ')} prints ${reason}`, async () => {
      const { out } = await skerry('http://127.0.0.1:9', words, { profiles: profiles() })
      return lines.every((line) => line.test(out))
    })
  await says(
    ['task', 'info', idOf(task)],
    new RegExp(`^waitsFor +${wordsOf(reason).source}$`, 'm'),
    new RegExp(`^waitReason +${reason}$`, 'm'),
  )
  let interrupt: () => void = () => undefined
  let drawn = ''
  const waited = await skerry('http://127.0.0.1:9', ['task', 'wait', idOf(task)], {
    profiles: profiles(),
    wait: (ms) => sleep(ms),
    onInterrupt: (leave) => {
      interrupt = leave
      return () => undefined
    },
    screen: {
      columns: 1000,
      write(line) {
        drawn = line
        if (wordsOf(reason).test(line)) interrupt()
      },
    },
  })
  assert.match(waited.err, /stopped waiting; task .* continues/, drawn)
  const row = new RegExp(` ${reason} +(task-)?${idOf(task)}$`, 'm')
  await says(['task', 'list', '--limit', '128'], row)
}

async function readEverywhere(reason: WaitReasonName, cause: Cause | undefined): Promise<void> {
  const place = placeOf.get(reason)
  assert.ok(cause && place, `${reason} has a case`)
  const task = await cause(place)
  const document = await inDocument(task, reason)
  await inQuery(task, reason)
  await inCommands(task, reason)
  const reported = await inEvents(task, reason)
  // A late lease may change the reason for a moment, and back.
  const isOnce = reported.every((each, at) => each !== reported[at - 1])
  assert.ok(isOnce, `an event once, not for each attempt: ${reported.join(' ')}`)
  if (reason !== 'retry') return
  assert.ok(Number(attribute(document, 'attempts')) > 0)
  assert.equal(attribute(document, 'lastFailure'), 'libvirt does not answer')
  const left = Date.parse(attribute(document, 'givesUpAt') ?? '') - Date.now()
  assert.ok(left > 0 && left <= 300_000, `it gives up within the 300 s of powerOn: ${left}`)
}

describe('the wait reason of a task is shown in all four places', { concurrency: AT_ONCE }, () => {
  for (const reason of names.filter((name) => !(name in alone))) {
    test(`when the reason is ${reason}`, () => readEverywhere(reason, apart[reason]))
  }
})

describe('the wait reason of all tasks is shown in all four places', { concurrency: false }, () => {
  for (const [reason, cause] of Object.entries(alone)) {
    test(`when the reason is ${reason}`, () => readEverywhere(reason as WaitReasonName, cause))
  }
})
