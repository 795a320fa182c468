// A lab with two workflow servers, and what a client does there with curl.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempDisposable, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { startLab, until, type Lab, type LabCloud, type LabWorkflow } from '@skerry/lab'

import {
  attributesOf,
  curlWith,
  formats,
  JSON_ASKED,
  listedIn,
  NoAnswer,
  type Curl,
  type Format,
  type JsonLink,
  type Listed,
  type Said,
} from './curl.ts'

const run = promisify(execFile)
/** Generous: guests are emulated, two at a time on few cores. */
export const RUN_MS = 300_000

export interface Place extends AsyncDisposable {
  readonly dir: string
  readonly lab: Lab
  readonly cloud: LabCloud
  readonly first: LabWorkflow
  readonly second: LabWorkflow
  readonly curl: Curl
  /** The first tenant's user, as an argument of curl. */
  readonly user: readonly string[]
}

export async function openPlace(): Promise<Place> {
  await using stack = new AsyncDisposableStack()
  const { path: dir } = stack.use(await mkdtempDisposable(join(tmpdir(), 'flow-')))
  const lab = stack.use(await startLab({ dir: join(dir, 'lab'), hosts: 1, cells: 2, workflows: 2 }))
  const { cloud } = lab
  assert.ok(cloud)
  const [first, second] = cloud.workflows
  const [tenant] = cloud.tenants
  assert.ok(first && second && tenant)
  const user = ['-u', `${tenant.user}@${tenant.org}:${tenant.password}`]
  const all = stack.move()
  return {
    dir,
    lab,
    cloud,
    first,
    second,
    user,
    curl: curlWith(cloud.ca),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

export const importFile = (
  { curl, user }: Place,
  { url }: LabWorkflow,
  file: string,
): Promise<Said> => curl(...user, ...JSON_ASKED, '-F', `file=@${file}`, `${url}/api/workflows`)

export const listAll = async (
  { curl, user }: Place,
  { url }: LabWorkflow,
  format: Format,
): Promise<Listed[]> =>
  listedIn(await curl(...user, ...formats[format], `${url}/api/workflows`), format)

/** As the specification says: the list is not filtered, the client searches for the name. */
export async function idOf(
  place: Place,
  name: string,
  { format = 'json', server = place.first }: { format?: Format; server?: LabWorkflow } = {},
): Promise<string> {
  const found = (await listAll(place, server, format)).filter((each) => each['name'] === name)
  assert.equal(found.length, 1, `${name} in ${format}`)
  return found[0]?.['id'] ?? ''
}

/** Operation 7: the archive, to be saved as a file. */
export async function exportTo(
  { user, cloud, dir }: Place,
  { url }: LabWorkflow,
  id: string,
  name: string,
): Promise<{ readonly file: string; readonly bytes: Buffer }> {
  const file = join(dir, name)
  const zip = ['-H', 'Accept: application/zip']
  const words = ['-sS', '--fail', '--cacert', cloud.ca, ...user, ...zip, '-o', file]
  await run('curl', [...words, `${url}/api/workflows/${id}`])
  return { file, bytes: await readFile(file) }
}

/** Starts a run with plain values, in the format of clients of the original API. */
export function start(
  { curl, user, first }: Place,
  id: string,
  values: Readonly<Record<string, string | number | boolean>>,
  ...more: readonly string[]
): Promise<Said> {
  const parameters = Object.entries(values).map(([name, value]) => {
    const type = typeof value
    return { name, type, scope: 'local', value: { [type]: { value } } }
  })
  return curl(
    ...user,
    ...JSON_ASKED,
    '-H',
    'Content-Type: application/json',
    ...more,
    '-d',
    JSON.stringify({ parameters }),
    `${first.url}/api/workflows/${id}/executions`,
  )
}

const unlessNoAnswer = (error: unknown): undefined => {
  if (error instanceof NoAnswer) return undefined
  throw error
}

/**
 * Repeats the request until it is accepted, and returns its name. A lost response is requested again with the same key, and
 * returns the same run; a rejected request started nothing, so the next one has another name.
 */
export function startSurely(
  place: Place,
  id: string,
  name: string,
): Promise<{ readonly location: string; readonly run: string }> {
  let refused = 0
  return until(
    `${name} is started`,
    async () => {
      const called = `${name}.${refused}`
      const key = ['-H', `Idempotency-Key: ${called}`]
      const said = await start(place, id, { run: called }, ...key).catch(unlessNoAnswer)
      if (said?.status === 202) return { location: said.headers['location'] ?? '', run: called }
      if (said) {
        assert.ok([401, 429, 503, 504].includes(said.status), `${said.status} ${said.text}`)
        refused += 1
      }
      await sleep(300)
      return undefined
    },
    RUN_MS,
  )
}

const ENDED = ['completed', 'failed', 'canceled']

/** Follows a run to its end; the servers may be unavailable meanwhile. */
export const follow = ({ curl, user }: Place, location: string): Promise<string> =>
  until(
    `the run ${location} ends`,
    async () => {
      await sleep(500)
      const said = await curl(...user, ...JSON_ASKED, `${location}state`).catch(unlessNoAnswer)
      if (said?.status !== 200) return undefined
      const { value } = JSON.parse(said.text) as { value: string }
      return ENDED.includes(value) ? value : undefined
    },
    RUN_MS,
  )

/** It ended as expected; otherwise fails with all details. */
export async function requireCompleted(place: Place, location: string): Promise<void> {
  const state = await follow(place, location)
  if (state === 'completed') return
  assert.fail((await place.curl(...place.user, ...JSON_ASKED, location)).text)
}

interface OutputParameter {
  readonly name: string
  readonly value?: {
    readonly array?: { readonly elements: readonly { readonly string?: { value: string } }[] }
  }
}

/** The outputs of a run, all of which are lists of words. */
export async function outputOf(
  { curl, user }: Place,
  location: string,
): Promise<Readonly<Record<string, readonly (string | undefined)[]>>> {
  const { text } = await curl(...user, ...JSON_ASKED, location)
  const { 'output-parameters': given } = JSON.parse(text) as {
    readonly 'output-parameters': readonly OutputParameter[]
  }
  return Object.fromEntries(
    given.map(({ name, value }) => [
      name,
      (value?.array?.elements ?? []).map((each) => each.string?.value),
    ]),
  )
}

export interface Run {
  readonly href: string
  readonly began: string
  readonly ended: boolean
}

/** The runs of a workflow, from its list. */
export async function runsOf({ curl, user, first }: Place, id: string): Promise<readonly Run[]> {
  const { text } = await curl(...user, ...JSON_ASKED, `${first.url}/api/workflows/${id}/executions`)
  const { relations } = JSON.parse(text) as {
    readonly relations: { readonly link: readonly (JsonLink & { readonly href: string })[] }
  }
  return relations.link.map((link) => {
    const { state = '', startDate = '' } = attributesOf(link)
    return { href: link.href, began: startDate, ended: ENDED.includes(state) }
  })
}
