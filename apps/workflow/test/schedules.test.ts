// Goal: a schedule runs what its owner intended, at the right times, until an authorized user ends it. Method: HTTP with real PostgreSQL.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'

import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { tendOnce } from '../src/runs/tend-runs.ts'
import { addScheduledRun } from '../src/store/begun-runs.ts'
import { openSchedule } from '../src/store/schedules.ts'
import { openWorkflowApi, readAnswer, readJson, type WorkflowApi } from './workflow-api.ts'
import { definitionText, seedSchedule, seedWorkflow } from './workflow-database.ts'

let api: WorkflowApi
before(async () => {
  api = await openWorkflowApi()
})
after(() => api[Symbol.asyncDispose]())

const json = 'application/json'

/** One pass over what requests could not end. */
const tend = () =>
  tendOnce(
    {
      db: api.store.db,
      runs: api.runs,
      grants: api.cloud.grants,
      log: () => undefined,
      pause: async () => undefined,
    },
    '00000000-0000-0000-0000-000000000000',
  )
const countSchedules = async (workflow: string): Promise<number> => {
  const { rows } = await sql`select from schedule where workflow = ${workflow}`.execute(
    api.store.db,
  )
  return rows.length
}

test('a schedule is paused when another user changes its workflow, until its owner resumes it', async () => {
  const [owner, author, admin] = [
    api.enter('eng', 'author'),
    api.enter('eng', 'author'),
    api.enter('eng', 'organisation administrator'),
  ]
  const text = (version: string) => definitionText('changed-by-others', version)
  const importAs = (as: typeof owner, version: string) =>
    api.ask('POST', '/api/workflows?overwrite=true', {
      as,
      accept: json,
      body: text(version),
      headers: { 'content-type': 'text/yaml' },
    })
  const { id } = readJson<{ id: string }>(await importAs(owner, '1.0.0'))
  const requested = { workflow: id, name: 'nightly', cron: '0 3 * * *' }
  const make = { as: owner, accept: json, body: JSON.stringify(requested) }
  const made = readJson<{ id: string }>(await api.ask('POST', '/api/schedules', make), 201)
  const at = `/api/schedules/${made.id}`
  const seen = async () => readJson(await api.ask('GET', at, { as: owner, accept: json }))
  assert.equal(readJson(await importAs(owner, '1.0.1'))['schedules-paused'], undefined)
  assert.equal((await seen())['state'], 'pending', 'the owner’s own change does not pause it')
  assert.equal(readJson(await importAs(author, '1.0.2'))['schedules-paused'], 1)
  assert.equal((await seen())['state'], 'suspended')
  assert.match(String((await seen())['paused-because']), /changed the workflow to version 1.0.2/)
  assert.equal(api.runs.scheduled.get(made.id), true)
  assert.equal(await addScheduledRun(api.store.db, made.id, 'now'), undefined)
  const resume = (as: typeof owner) => api.ask('POST', `${at}/action/resume`, { as, accept: json })
  const refused = await resume(admin)
  assert.equal(refused.status, 403)
  assert.match(refused.text, new RegExp(`only ${owner.user} may resume it`))
  const pause = (as: typeof owner) => api.ask('POST', `${at}/action/pause`, { as, accept: json })
  assert.equal((await pause(owner)).status, 200)
  assert.equal((await resume(admin)).status, 403, 'a pause is not a review')
  assert.equal((await resume(owner)).status, 200)
  assert.equal((await seen())['paused-because'], undefined)
  assert.ok(await addScheduledRun(api.store.db, made.id, 'now'))
  assert.equal((await pause(admin)).status, 200)
  assert.equal(readJson(await importAs(author, '1.0.3'))['schedules-paused'], 1)
  assert.equal((await resume(admin)).status, 403, 'it was paused before the change')
})

test('schedules have a time zone, an overlap policy and a pause, and only authorized users end them', async () => {
  const principal = api.enter('eng', 'user')
  const { id } = await seedWorkflow(api.store, api.eng.principal, { name: 'scheduled' })
  const post = (body: unknown) =>
    api.ask('POST', '/api/schedules', {
      as: principal,
      accept: json,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  const requested = {
    workflow: id,
    name: 'nightly',
    cron: '0 3 * * *',
    'time-zone': 'Europe/Berlin',
  }
  const made = readJson<Record<string, string>>(await post({ ...requested, overlap: 'queue' }), 201)
  assert.deepEqual(
    [made['state'], made['time-zone'], made['overlap'], made['cron']],
    ['pending', 'Europe/Berlin', 'queue', '0 3 * * *'],
  )
  assert.equal(api.runs.scheduled.get(made['id'] ?? ''), false)
  const at = `/api/schedules/${made['id']}`
  const paused = readJson(
    await api.ask('POST', `${at}/action/pause`, { as: principal, accept: json }),
  )
  assert.equal(paused['state'], 'suspended')
  assert.equal(api.runs.scheduled.get(made['id'] ?? ''), true)
  readAnswer(await api.ask('POST', `${at}/action/resume`, { as: principal }))
  for (const wrong of [
    { 'time-zone': 'Mars/Base' },
    { cron: undefined },
    { 'every-seconds': 60 },
    { overlap: 'x' },
    { cron: 'never' },
    { name: '' },
    { cron: undefined, 'every-seconds': 1 },
  ]) {
    const answer = await post({ ...requested, ...wrong })
    assert.equal(answer.status, 400, `${JSON.stringify(wrong)} ${answer.text}`)
  }
  assert.equal((await post({ ...requested, workflow: api.ops.ids['workflow'] })).status, 404)
  assert.equal((await post({ ...requested, workflow: randomUUID() })).status, 404)
  assert.equal((await post('{')).status, 400)
  const xml = `<schedule><workflow>${id}</workflow><name>hourly</name><every-seconds>3600</every-seconds></schedule>`
  assert.equal((await post(xml)).status, 201)
  const stranger = api.enter('eng', 'user')
  assert.equal((await api.ask('DELETE', at, { as: stranger })).status, 403)
  assert.equal((await api.ask('DELETE', at, { as: principal })).status, 204)
  assert.equal((await api.ask('GET', at, { as: principal })).status, 404)
  const own = readAnswer(await api.ask('GET', `/api/workflows/${id}/tasks`, { as: principal }))
  assert.equal(attribute(own, 'total'), '1')
})

test('a schedule that could not be created leaves nothing, in the database, in Temporal and in the cloud', async () => {
  const principal = api.enter('eng', 'user')
  const { id } = await seedWorkflow(api.store, api.eng.principal, { name: 'refused' })
  const create = async () => {
    const body = JSON.stringify({ workflow: id, name: 'nightly', cron: '0 3 * * *' })
    return api.ask('POST', '/api/schedules', { as: principal, accept: json, body })
  }
  const count = () => countSchedules(id)
  const before = new Set(api.cloud.grants.alive)
  api.cloud.grants.away = true
  assert.equal((await create()).status, 503)
  api.cloud.grants.away = false
  assert.equal(await count(), 1, 'it is remembered: the cloud could not confirm that it has ended')
  api.runs.away = true
  assert.equal((await create()).status, 503)
  api.runs.away = false
  assert.equal(await count(), 2, 'and so is this one')
  await sql`update schedule set deleted_at = deleted_at - interval '3 min' where workflow = ${id}`.execute(
    api.store.db,
  )
  await tend()
  assert.equal(await count(), 0)
  assert.deepEqual(api.cloud.grants.alive, before)
  assert.equal((await create()).status, 201)
})

test('the grants of deleted schedules end, also if the cloud or Temporal is away meanwhile', async () => {
  const principal = api.enter('eng', 'organisation administrator')
  const { id } = await seedWorkflow(api.store, principal, { name: 'deleted' })
  const create = async () => {
    const body = JSON.stringify({ workflow: id, name: 'nightly', cron: '0 3 * * *' })
    const made = await api.ask('POST', '/api/schedules', { as: principal, accept: json, body })
    return readJson<{ id: string }>(made, 201).id
  }
  const isAlive = (schedule: string) => [
    api.cloud.grants.alive.has(schedule),
    api.runs.scheduled.has(schedule),
  ]
  const [one, two, three] = [await create(), await create(), await create()]
  assert.deepEqual(
    [one, two, three].map(isAlive),
    [one, two, three].map(() => [true, true]),
  )
  await addScheduledRun(api.store.db, one, 'now')
  const remove = (path: string) => api.ask('DELETE', path, { as: principal })
  assert.equal((await remove(`/api/schedules/${one}`)).status, 204)
  assert.deepEqual(isAlive(one), [false, false])
  api.cloud.grants.away = true
  assert.equal((await remove(`/api/schedules/${two}`)).status, 204)
  api.cloud.grants.away = false
  assert.deepEqual(isAlive(two), [true, false])
  api.runs.away = true
  assert.equal((await remove(`/api/workflows/${id}?force=true`)).status, 200)
  api.runs.away = false
  assert.deepEqual(isAlive(three), [false, true])
  await tend()
  assert.deepEqual(isAlive(two), [true, false], 'the request may still be in progress')
  await sql`update schedule set deleted_at = deleted_at - interval '3 min' where workflow = ${id}`.execute(
    api.store.db,
  )
  await tend()
  assert.deepEqual(
    [two, three].map(isAlive),
    [two, three].map(() => [false, false]),
  )
  assert.equal(await countSchedules(id), 1, 'the one with a run is kept for its record')
  api.cloud.grants.alive.add(one)
  await tend()
  assert.ok(api.cloud.grants.alive.has(one), 'an end that was confirmed is not repeated')
})

test('a schedule whose grant was ended meanwhile does not come into being', async () => {
  const { principal, ids } = api.eng
  const options = { workflow: ids['workflow'] ?? '', isOpen: false }
  const late = await seedSchedule(api.store, principal, options)
  await sql`update schedule set deleted_at = deleted_at - interval '3 min' where id = ${late}`.execute(
    api.store.db,
  )
  await tend()
  const open = api.store.as(principal, (tx) => openSchedule(tx, { org: principal.org, id: late }))
  await assert.rejects(open, { kind: 'gone' })
})
