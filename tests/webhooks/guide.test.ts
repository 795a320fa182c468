// Goal: docs/guides/webhooks.md works as it is written. Method: its `sh` lines, in order, with `skerry` in this process against the API
// of a cloud; its receiver as a program, which gets real messages through the egress. The lines for operators need systemd.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { freePorts, until } from '@skerry/lab'

import { keptProfiles, skerry } from '../../apps/cli/test/terminal.ts'
import { openTenantsApi } from '../../apps/cloud/test/tenants-api.ts'
import { blocksIn } from '../accept/doc-blocks.ts'
import { openWebhookSite } from './webhook-site.ts'

const PAGE = join(import.meta.dirname, '../../docs/guides/webhooks.md')

/** The words of a line, as a shell reads them: the guide quotes nothing but the empty word. */
const wordsOf = (line: string): readonly string[] =>
  line.split(' ').map((word) => (word === "''" ? '' : word))

test('the lines of the guide add a webhook, test, list, resend, change and remove it', async () => {
  await using api = await openTenantsApi()
  const token = await api.enter(api.eng.org, 'organisation administrator')
  const work = { url: `http://127.0.0.1:${api.port}`, user: 'alice@eng', token }
  const profiles = keptProfiles({ active: 'work', clouds: { work } })
  const lines = blocksIn(await readFile(PAGE, 'utf8')).flatMap((block) => block.trim().split('\n'))
  assert.ok(lines.length >= 11, `${lines.length} lines`)
  const shown: string[] = []
  for (const line of lines) {
    const [program, ...words] = wordsOf(line)
    assert.equal(program, 'skerry', line)
    for (const more of words[1] === 'rm' || words[1] === 'create' ? [[]] : [[], ['--json']]) {
      const { code, out, err } = await skerry('http://127.0.0.1:9', [...words, ...more], {
        profiles,
      })
      assert.equal(code, 0, `${line}: ${err}`)
      shown.push(out)
    }
  }
  const all = shown.join('')
  for (const expected of [
    /^secret, shown only now: whsec_[A-Za-z0-9+/]{43}=$/m,
    /^the receiver answered 204$/m,
    /^siem +https:\/\/siem\.example\/events +working +[0-9]+ +user\. session\. task\.error$/m,
    /^webhook siem sends from there on again$/m,
    /^webhook siem is removed$/m,
  ]) {
    assert.match(all, expected)
  }
})

test('the receiver of the guide takes what is signed, and nothing else', async () => {
  await using site = await openWebhookSite()
  const [, program = ''] = /```python\n([^]*?)```/.exec(await readFile(PAGE, 'utf8')) ?? []
  const own = await freePorts(1)
  const { secret } = await site.add('siem')
  const receiver = spawn('python3', ['-c', program, String(own)], {
    env: { ...process.env, SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const printed = text(receiver.stdout)
    await until(
      'it listens',
      () =>
        new Promise<boolean>((resolve) => {
          const socket = connect(own, '127.0.0.1')
          socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
          socket.on('connect', () => socket.destroy())
        }),
    )
    let forge = true
    const answers: number[] = []
    // What came through the egress is passed on; the first message with other contents.
    site.reply = async ({ headers, body }, response) => {
      const sent = await fetch(`http://127.0.0.1:${own}/`, {
        method: 'POST',
        headers: Object.fromEntries(
          Object.entries(headers).filter(([name]) => name.startsWith('webhook-')),
        ) as Record<string, string>,
        body: forge ? body.replace('test.n', 'fake.n') : body,
      })
      forge = false
      answers.push(sent.status)
      response.writeHead(sent.status).end()
    }
    await site.emit(2)
    await using _ = site.startHere()
    await until('it is taken', async () => answers.includes(204))
    assert.deepEqual(answers, [401, 204])
    receiver.kill()
    assert.match(await printed, /^(\S+Z skerry\.test\.n \S+\n){2}$/)
  } finally {
    receiver.kill()
  }
})
