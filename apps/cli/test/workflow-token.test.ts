// Goal: `skerry workflow` logs in with the token of the profile, and sends that token to no other server.
// Method: a server that records the credentials it gets.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { answer, keptProfiles, skerry, startDaemon } from './terminal.ts'

const NOWHERE = 'http://127.0.0.1:1'
const token = `skat_${'t'.repeat(43)}`
const basic = (password: string) =>
  `Basic ${Buffer.from(`bob@blue:${password}`).toString('base64')}`

const startServer = () => startDaemon((_, reply) => answer(reply, 401, { message: 'no' }))

const runWith = (profile: { token: string; workflow: string }, ...words: readonly string[]) =>
  skerry(NOWHERE, ['workflow', 'list', ...words], {
    profiles: keptProfiles({
      active: 'work',
      clouds: { work: { url: 'https://cloud.example', user: 'bob@blue', ...profile } },
    }),
    readSecret: async () => 'typed',
  })

test('the workflow server of the profile gets its API token as the password', async () => {
  await using server = await startServer()
  await runWith({ token, workflow: server.url })
  assert.deepEqual(
    server.headers.map(({ authorization }) => authorization),
    [basic(token)],
  )
})

test('another server, another user, and a profile with only a session get the typed password', async () => {
  await using server = await startServer()
  await using other = await startServer()
  await runWith({ token, workflow: server.url }, '--server', other.url)
  assert.equal(other.headers[0]?.authorization, basic('typed'))
  await runWith({ token, workflow: server.url }, '--user', 'eve@blue')
  await runWith({ token: 'session', workflow: server.url })
  assert.deepEqual(
    server.headers.map(({ authorization }) => authorization),
    [`Basic ${Buffer.from('eve@blue:typed').toString('base64')}`, basic('typed')],
  )
})
