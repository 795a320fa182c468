// Goal: `skerry workflow` covers the API for users. Method: the command line against the server, over a real PostgreSQL.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import { record } from '../src/store/record.ts'
import { PASSWORD } from './simulated-cloud.ts'
import { openWorkflowApi, type WorkflowApi } from './workflow-api.ts'
import { definitionText } from './workflow-database.ts'

let api: WorkflowApi
let dir: string
before(async () => {
  api = await openWorkflowApi()
  dir = await mkdtemp(join(tmpdir(), 'skerry-cli-'))
})
after(async () => {
  await api[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

const run = (...words: string[]) => {
  const { user, orgName } = api.eng.principal
  const server = `http://127.0.0.1:${api.port}`
  return skerry('http://127.0.0.1:9', ['workflow', ...words], {
    workflows: { server, user: `${user}@${orgName}`, password: PASSWORD, ca: undefined },
  })
}

test('list, info, export and import round trip', async () => {
  const listed = await run('list')
  assert.equal(listed.code, 0, listed.err)
  assert.match(
    listed.out,
    /^NAME +VERSION +FOLDER +ID\nSend Hello +1\.0\.0 +Mail +[0-9a-f-]{36}\n$/,
  )
  assert.equal((await run('list', '--name', 'nothing')).out.trim().split('\n').length, 1)
  const shown = await run('info', 'Send Hello')
  assert.match(shown.out, /version 1\.0\.0, in Library\/Mail/)
  assert.match(shown.out, /word +SecureString/)
  const source = join(dir, 'mine.yaml')
  await writeFile(source, definitionText('mine'))
  const dry = await run('import', source, '--dry-run')
  assert.deepEqual([dry.code, dry.out], [0, 'mine 1.0.0 would be created in Workflows\n'], dry.err)
  assert.equal((await run('import', source)).out, 'mine 1.0.0 is created in Workflows\n')
  const out = join(dir, 'mine.workflow')
  assert.equal((await run('export', 'mine', '--out', out)).out, `saved as ${out}\n`)
  assert.equal((await readFile(out)).subarray(0, 2).toString(), 'PK')
  const again = await run('export', 'mine', '--out', out)
  assert.deepEqual([again.code, /--force/.test(again.err)], [1, true])
  assert.equal((await run('import', out)).out, 'mine 1.0.0 is unchanged in Workflows\n')
  await writeFile(source, definitionText('mine').replace('set:', 'teleport:'))
  const wrong = await run('import', source)
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, new RegExp(`^${source}:8:\\d+ `))
})

test('a run starts with inputs typed by its form, is followed, and its log is printed', async () => {
  const secret = join(dir, 'secret')
  await writeFile(secret, 'hush\n')
  const started = await run(
    'run',
    'Send Hello',
    '--input',
    'name=John',
    '--input',
    'times=3',
    '--input',
    `word=@${secret}`,
    '--json',
  )
  assert.equal(started.code, 0, started.err)
  const { id, 'input-parameters': inputs } = JSON.parse(started.out) as {
    id: string
    'input-parameters': { name: string; value: unknown }[]
  }
  assert.deepEqual(inputs.find(({ name }) => name === 'times')?.value, { number: { value: 3 } })
  assert.ok(!started.out.includes('hush'))
  const waiting = run('run', 'Send Hello', '--input', 'name=Jane', '--wait', '--key', 'once')
  const begun = async (): Promise<string> => {
    for (;;) {
      const last = api.runs.started.at(-1)
      if (last !== undefined && last !== id) return last
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const steps = [{ number: 1, at: 0, place: '/do/0/greet', name: 'greet', what: 'failed' as const }]
  const error = { type: 'x', status: 500, title: 'no' }
  await record(api.store.db, { execution: await begun(), state: 'failed', steps, asks: [], error })
  const ended = await waiting
  assert.deepEqual(
    [ended.code, ended.out.endsWith(' failed\n'), /no \(500\)/.test(ended.err)],
    [1, true, true],
  )
  assert.match((await run('logs', 'Send Hello')).out, /error greet failed\n$/)
  const refused = await run('run', 'Send Hello')
  assert.deepEqual([refused.code, /name/.test(refused.err)], [1, true])
})

test('interactions are answered; schedules are created, paused, resumed and deleted', async () => {
  const execution = api.eng.ids['execution'] ?? ''
  const form = { type: 'object', properties: { go: { type: 'boolean' } }, required: ['go'] }
  const asks = [{ id: 'ask', place: '/do/0', question: { title: 'Go on?', form } }]
  await record(api.store.db, { execution, state: 'waiting', steps: [], asks })
  const answered = await run('answer', 'Send Hello', execution, '--input', 'go=true')
  assert.deepEqual([answered.code, answered.out], [0, 'answered: Go on?\n'], answered.err)
  assert.deepEqual(api.runs.answered.at(-1)?.[3], { go: true })
  await writeFile(join(dir, 'plain.yaml'), definitionText('plain'))
  await run('import', join(dir, 'plain.yaml'))
  const made = await run('schedule', 'plain', '--cron', '0 3 * * *', '--time-zone', 'Europe/Berlin')
  const id = /as ([0-9a-f-]{36})\n$/.exec(made.out)?.[1] ?? ''
  assert.equal(made.code, 0, made.err)
  assert.match(
    (await run('schedule', 'plain')).out,
    /scheduled +0 3 \* \* \* +Europe\/Berlin +skip +on/,
  )
  assert.equal((await run('schedule', 'plain', '--pause', id)).out, `${id} is paused\n`)
  assert.match((await run('schedule', 'plain')).out, / paused /)
  assert.equal((await run('schedule', 'plain', '--resume', id)).out, `${id} is resumed\n`)
  assert.equal((await run('schedule', 'plain', '--rm', id)).out, `${id} is deleted\n`)
})

test('missing user, server or workflow gives a one-line error with the next step', async () => {
  const at = `http://127.0.0.1:${api.port}`
  const none = { server: at, user: undefined, password: undefined, ca: undefined }
  const ask = (
    workflows: typeof none | { server: string; user: string; password: string; ca: undefined },
  ) => skerry('http://127.0.0.1:9', ['workflow', 'list'], { workflows })
  assert.match((await ask(none)).err, /no user given\nnext: /)
  const wrong = await ask({ server: at, user: 'nobody@eng', password: 'x', ca: undefined })
  assert.deepEqual([wrong.code, /Basic credentials/.test(wrong.err)], [1, true])
  const away = await ask({
    server: 'http://127.0.0.1:9',
    user: 'a@b',
    password: 'x',
    ca: undefined,
  })
  assert.equal(away.code, 3)
  const clear = await ask({
    server: 'http://workflow.example',
    user: 'a@b',
    password: 'x',
    ca: undefined,
  })
  assert.equal(clear.code, 2, 'a password is not sent in clear text')
  assert.match((await run('info', 'no such')).err, /there is no workflow no such/)
})

test('the cloud profile provides server and user, and the password is prompted', async () => {
  const { user, orgName } = api.eng.principal
  const principal = `${user}@${orgName}`
  const work = { url: 'https://cloud.example', user: principal, token: 'T' }
  const requested: string[] = []
  const list = (workflow?: string) => {
    const profile = { ...work, ...(workflow !== undefined && { workflow }) }
    return skerry('http://127.0.0.1:9', ['workflow', 'list'], {
      profiles: keptProfiles({ active: 'work', clouds: { work: profile } }),
      readSecret: async (prompt) => {
        requested.push(prompt)
        return PASSWORD
      },
    })
  }
  const listed = await list(`http://127.0.0.1:${api.port}`)
  assert.deepEqual([listed.code, requested], [0, [`password of ${principal}: `]], listed.err)
  assert.match(listed.out, /^NAME +VERSION +FOLDER +ID\n/)
  const unsaid = await list()
  assert.equal(unsaid.code, 1)
  assert.match(unsaid.err, /\nnext: skerry login work --workflow URL stores one/)
})
