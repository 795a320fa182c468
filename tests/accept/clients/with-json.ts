// A client of workflow servers like the original tools: JSON, Basic credentials with each request, /vco/api before every path.
// Arguments: url, org, user, password, a file with a workflow.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [url = '', org = '', user = '', password = '', file = ''] = process.argv.slice(2)
const authorization = `Basic ${Buffer.from(`${user}@${org}:${password}`).toString('base64')}`
const LOOK_MS = 500

interface Attributes {
  readonly attributes: readonly { readonly name: string; readonly value?: string }[]
}

interface Asked {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: FormData | string
}

async function ask(method: string, path: string, requested: Asked = {}): Promise<Response> {
  const headers = { accept: 'application/json', authorization, ...requested.headers }
  const answer = await fetch(`${url}/vco/api${path}`, { ...requested, method, headers })
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
  return answer
}
const get = async (path: string): Promise<unknown> => (await ask('GET', path)).json()

const about = (await get('/about')) as Record<string, string>
assert.equal(about['api-version'], '5.1')

const form = new FormData()
form.append('file', new Blob([await readFile(file)]), basename(file))
await ask('POST', '/workflows', { body: form })
const { link } = (await get('/workflows')) as { readonly link: readonly Attributes[] }
const [known] = link.map(({ attributes }) =>
  Object.fromEntries(attributes.map(({ name, value }) => [name, value])),
)
assert.equal(known?.['name'], 'Greet')
const at = `/workflows/${known['id']}`
const workflow = (await get(at)) as { readonly 'input-parameters': readonly { name: string }[] }
assert.deepEqual(
  workflow['input-parameters'].map(({ name }) => name),
  ['name'],
)
const archive = await ask('GET', at, { headers: { accept: 'application/zip' } })
assert.equal(Buffer.from(await archive.arrayBuffer()).toString('latin1', 0, 2), 'PK')

const started = await ask('POST', `${at}/executions`, {
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    parameters: [
      { name: 'name', type: 'string', scope: 'local', value: { string: { value: 'Ada' } } },
    ],
  }),
})
const run = new URL(started.headers.get('location') ?? '').pathname.replace(
  /^(\/vco)?\/api|\/$/g,
  '',
)
for (;;) {
  const { value } = (await get(`${run}/state`)) as { readonly value: string }
  if (value === 'completed') break
  assert.ok(['initializing', 'running'].includes(value), value)
  await sleep(LOOK_MS)
}
const ended = (await get(run)) as {
  readonly 'output-parameters': readonly {
    readonly value: { readonly string: { value: string } }
  }[]
}
assert.equal(ended['output-parameters'][0]?.value.string.value, 'Hello, Ada')
await get(`${run}/logs`)
await ask('DELETE', `${at}?force=true`)
