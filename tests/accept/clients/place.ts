// The lab for third-party clients, and how a client runs there: in its own organisation, through a recorder.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

import {
  guestImage,
  startLab,
  until,
  type LabCloud,
  type LabWorkflow,
  type Login,
} from '@skerry/lab'
import { attribute } from '@skerry/xml'

import { CloudClient } from '../../../apps/cloud/test/cloud-client.ts'
import { holdToRecord, type Known } from './record.ts'
import { startRecorder, type Recorder } from './recorder.ts'

/** Generous: guests are emulated, and some clients poll only every five seconds. */
const CLIENT_MS = 400_000
const DELETED_MS = 180_000

export interface Place extends AsyncDisposable {
  readonly dir: string
  readonly cloud: LabCloud
  readonly workflow: LabWorkflow
}

export async function openPlace(): Promise<Place> {
  await using stack = new AsyncDisposableStack()
  const { path: dir } = stack.use(await mkdtempDisposable(join(tmpdir(), 'clients-')))
  const size = { hosts: 1, cells: 1, console: true, original: true, workflows: 1, network: true }
  const { cloud } = stack.use(await startLab({ dir: join(dir, 'lab'), ...size }))
  const [workflow] = cloud?.workflows ?? []
  assert.ok(cloud && workflow)
  const all = stack.move()
  return { dir, cloud, workflow, [Symbol.asyncDispose]: () => all.disposeAsync() }
}

type ClientRole = 'author' | 'organisation administrator'

/** An organisation that only this client uses: its lists contain only what the client created. */
export async function newOrganisation(
  { cloud }: Place,
  org: string,
  role: ClientRole = 'author',
): Promise<Login> {
  const password = randomBytes(12).toString('hex')
  await cloud.administer(['org', 'create', org])
  await cloud.administer(['user', 'create', `alice@${org}`, '--role', role], password)
  await cloud.administer([
    'template',
    'import',
    await guestImage('small'),
    '--org',
    org,
    '--name',
    'small',
    '--cpus',
    '1',
    '--memory',
    '128',
  ])
  return { org, user: 'alice', password }
}

/** The arguments of a client. */
export interface ClientArguments {
  readonly url: string
  /** A file: the CA certificate of the address. */
  readonly ca: string
  readonly login: Login
}

export interface Client {
  /** Also the name of its organisation and of its record. */
  readonly name: string
  readonly command: (given: ClientArguments) => readonly string[]
  readonly env?: (given: ClientArguments) => Readonly<Record<string, string>>
  /** The server it is a client of; default: the cloud with the original names. */
  readonly of?: string
  /** The role of its user; default: author. */
  readonly role?: ClientRole
  /** Existing resources that it finds, created by another user. */
  readonly finds?: (somebody: CloudClient) => Promise<void>
}

/** How often each client is run, each time in a new organisation: the record is the same. */
const ROUNDS = Number(process.env['SKERRY_ROUNDS'] ?? 1)

/** Runs a client to its end and compares the traffic with its record. Returns its output, last part. */
export async function runClient(place: Place, client: Client): Promise<string> {
  let printed = ''
  for (let round = 1; round <= ROUNDS; round += 1) printed = await runOnce(place, client, round)
  return printed
}

async function runOnce(place: Place, client: Client, round: number): Promise<string> {
  const { cloud, dir } = place
  const login = await newOrganisation(place, `${client.name}-${round}`, client.role)
  const target = client.of ?? cloud.original
  assert.ok(target)
  const somebody = await logIn(cloud, login)
  await client.finds?.(somebody)
  await using recorder = await startRecorder(target, await readFile(cloud.ca, 'utf8'))
  const ca = join(dir, `${client.name}.pem`)
  await writeFile(ca, recorder.ca)
  const given = { url: recorder.url, ca, login }
  const printed = await runToEnd(client.command(given), client.env?.(given) ?? {})
  await holdToRecord(client.name, recorder.exchanges, {
    ...knownOf(place, recorder, login),
    '{organisation}': login.org,
  })
  if (!client.finds) await untilNothingIsLeft(somebody)
  return printed
}

export const logIn = async ({ url, ca }: LabCloud, { user, org, password }: Login) =>
  CloudClient.logIn(url, await readFile(ca, 'utf8'), `${user}@${org}`, password)

/** Some clients end before their deletions are complete. */
const untilNothingIsLeft = (somebody: CloudClient): Promise<boolean> =>
  until(
    'nothing is left',
    async () => {
      const found = await somebody.get('/api/query?type=vApp')
      return attribute(found, 'total') === '0'
    },
    DELETED_MS,
  )

const knownOf = ({ cloud }: Place, { url, exchanges }: Recorder, login: Login): Known => {
  const tokens = exchanges.map(({ said }) => said.headers['x-vcloud-authorization'])
  return {
    'https://server': url,
    ...(cloud.console && {
      'console:port': new URL(cloud.console.url).host,
      '>port<': `>${new URL(cloud.console.url).port}<`,
    }),
    '{password}': login.password,
    ...Object.fromEntries(
      [...new Set(tokens)].flatMap((token, at) => (token ? [[`{token ${at + 1}}`, token]] : [])),
    ),
  }
}

/** Runs a program and returns its output; it must end with 0. */
export async function runToEnd(
  [program = '', ...words]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(program, words, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal: AbortSignal.timeout(CLIENT_MS),
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  assert.equal(code, 0, `${program} ${words.join(' ')} ended with ${code}:\n${stdout}${stderr}`)
  return stdout
}
