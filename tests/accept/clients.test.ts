// Goal: unmodified third-party clients of the original API work. Method: each in its exact version runs as much of a VM's life
// cycle as it supports, against a lab with real guests, all concurrently, each in its own organisation; the traffic is compared
// with a readable record. Clients that others generate from the OpenAPI document do the same without a record.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'

import { pythonWith, reasonToSkip, reasonWithoutTemporal } from '@skerry/lab'
import { attribute } from '@skerry/xml'

import { taskOf, type CloudClient } from '../../apps/cloud/test/cloud-client.ts'
import { generateGo, generatePython, runGenerated } from './clients/generated.ts'
import { makeNetwork } from './clients/network.ts'
import { openPlace, runClient, type Place, type ClientArguments } from './clients/place.ts'

const skip =
  reasonToSkip('host', 'network', 'small', 'cloud', 'clients') ??
  (await reasonWithoutTemporal()) ??
  false
const at = (file: string) => join(import.meta.dirname, 'clients', file)
const run = promisify(execFile)

let place: Place
let python: string
let govcd: Promise<string>
before(async () => {
  if (skip !== false) return
  python = await pythonWith(at('requirements.txt'))
  place = await openPlace()
  govcd = buildGovcd()
})
after(() => place?.[Symbol.asyncDispose]())

const wordsOf = ({ url, ca, login }: ClientArguments) => [
  url,
  ca,
  login.org,
  login.user,
  login.password,
]

async function buildGovcd(): Promise<string> {
  const program = join(place.dir, 'govcd')
  await run('go', ['build', '-o', program, '.'], {
    cwd: at('govcd'),
    env: { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' },
  })
  return program
}

/** Clients with networks are administrators of an organisation that has a routed network. */
const withNetwork = {
  role: 'organisation administrator',
  finds: (somebody: CloudClient) => makeNetwork(somebody, 'backend'),
} as const

suite('clients of the cloud', { skip, concurrency: true }, () => {
  test('pyvcloud 23.0.4, at 5.1', async () => {
    await runClient(place, {
      name: 'pyvcloud',
      command: (given) => [python, at('with-pyvcloud.py'), ...wordsOf(given)],
    })
  })

  for (const version of ['1.5', '5.5']) {
    test(`apache-libcloud 3.9.1, at ${version}`, async () => {
      await runClient(place, {
        name: `libcloud-${version}`,
        command: (given) => [python, at('with-libcloud.py'), ...wordsOf(given), version],
      })
    })
  }

  test('govcd of Debian 12, at 5.5', async () => {
    const program = await govcd
    await runClient(place, {
      name: 'govcd',
      command: ({ url, login }) => [program, url, login.org, login.user, login.password],
      env: ({ ca }) => ({ SSL_CERT_FILE: ca }),
    })
  })

  test('pyvcloud with networks', async () => {
    await runClient(place, {
      name: 'pyvcloud-networks',
      ...withNetwork,
      command: (given) => [python, at('with-pyvcloud-networks.py'), ...wordsOf(given)],
    })
  })

  test('apache-libcloud with networks', async () => {
    await runClient(place, {
      name: 'libcloud-networks',
      ...withNetwork,
      command: (given) => [python, at('with-libcloud-networks.py'), ...wordsOf(given), '5.5'],
    })
  })

  test('govcd with networks', async () => {
    const program = await govcd
    await runClient(place, {
      name: 'govcd-networks',
      ...withNetwork,
      command: ({ url, login }) => [
        program,
        url,
        login.org,
        login.user,
        login.password,
        'networks',
      ],
      env: ({ ca }) => ({ SSL_CERT_FILE: ca }),
    })
  })

  test('a script of curl, grep and awk, at 1.5, up to the address of a screen', async () => {
    const printed = await runClient(place, {
      name: 'curl',
      command: (given) => ['bash', at('console.sh'), ...wordsOf(given)],
      async finds(somebody) {
        const { root } = await somebody.instantiate('web')
        assert.equal(attribute(await somebody.ended(taskOf(root), 180_000), 'status'), 'success')
      },
    })
    assert.match(
      decodeURIComponent(printed.trim()),
      /^mks:\/\/127\.0\.0\.2:\d+\/vm-[0-9a-f-]{36}\?ticket=[\w-]+$/,
    )
  })

  test('a JSON client at /vco/api', async () => {
    await runClient(place, {
      name: 'workflows',
      of: place.workflow.url,
      command: ({ url, login }) => [
        process.execPath,
        at('with-json.ts'),
        url,
        login.org,
        login.user,
        login.password,
        at('greet.yaml'),
      ],
      env: ({ ca }) => ({ NODE_EXTRA_CA_CERTS: ca }),
    })
  })

  test('a Go client that oapi-codegen generates from the OpenAPI document', async () => {
    const program = await generateGo(place)
    const printed = await runGenerated(place, 'openapi-go', ({ url, login }) => [
      program,
      url,
      login.org,
      login.user,
      login.password,
    ])
    assert.equal(printed, 'small POWERED_ON\n')
  })

  test('a Python client that openapi-python-client generates from the OpenAPI document', async () => {
    const generator = await pythonWith(at('openapi-python/requirements.txt'))
    const program = await generatePython(place, generator)
    const printed = await runGenerated(place, 'openapi-python', (given) => [
      ...program,
      ...wordsOf(given),
    ])
    assert.equal(printed, 'small POWERED_ON\n')
  })
})
