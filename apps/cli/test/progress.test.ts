import assert from 'node:assert/strict'
import { test } from 'node:test'

import { renderProgress } from '../src/terminal/progress.ts'
import { answer, skerry, startDaemon, type Script } from './terminal.ts'

test('a bar if the percentage is known, otherwise a spinner', () => {
  const shown = { label: 'creating a', elapsedMs: 1234 }
  assert.equal(renderProgress(shown, 80), '- creating a  1.2 s')
  assert.equal(
    renderProgress({ ...shown, percent: 50 }, 80),
    'creating a  [############............] 50 %  1.2 s',
  )
  assert.ok(renderProgress({ ...shown, percent: 50 }, 20).length < 20)
})

/** An operation that is half done at the first poll and then ends with `end`. */
const working = (end: object): Script => {
  const states = [{ state: 'running', progress: 0 }, { state: 'running', progress: 50 }, end]
  return (requested, reply) =>
    requested.startsWith('POST')
      ? answer(reply, 202, { id: '1' }, { location: '/api/operations/1' })
      : answer(reply, 200, states.shift())
}

test('an operation behind a 202 is followed until it ends, with its percentage on the terminal', async () => {
  const result = { id: 'a', name: 'a', tag: '' }
  await using daemon = await startDaemon(working({ state: 'succeeded', progress: 100, result }))
  const ran = await skerry(daemon.url, ['create', 'a', '--json'], { terminal: true })
  assert.equal(ran.code, 0, ran.err)
  assert.deepEqual(JSON.parse(ran.out), result)
  assert.match(ran.drawn, /creating a {2}\[#{12}\.{12}\] 50 %/)
  assert.ok(ran.drawn.endsWith('\r\u001B[K'), 'nothing is left on the terminal')
  assert.equal(daemon.headers[0]?.['prefer'], 'respond-async')
})

test('an operation that fails behind a 202 is reported like a direct error', async () => {
  const error = { code: 503, message: 'there is no room', hint: 'add storage' }
  await using daemon = await startDaemon(working({ state: 'failed', progress: 50, error }))
  const { code, err, drawn } = await skerry(daemon.url, ['clone', 'a', 'b'])
  assert.deepEqual([code, drawn], [1, ''])
  assert.equal(err, 'skerry: there is no room\nnext: add storage\n')
})

test('events are printed as they come, and resumed after a broken stream', async () => {
  const event = (id: number) =>
    `id: ${id}\nevent: vm.power\ndata: ${JSON.stringify({ id, at: 'now', type: 'vm.power', vm: 'a', state: 'powered on' })}\n\n`
  let connections = 0
  await using daemon = await startDaemon((_, reply) => {
    connections += 1
    reply.writeHead(200, { 'content-type': 'text/event-stream' })
    const text = connections === 1 ? `id: 6\n\n:\n\n${event(7)}` : event(8)
    // Cut in the middle of a line, as a network may do.
    reply.write(text.slice(0, 20))
    setImmediate(() => {
      reply.write(text.slice(20))
      if (connections === 1) reply.end()
    })
  })
  const { code, out } = await skerry(daemon.url, ['event', 'follow', '--count', '2'])
  assert.equal(code, 0)
  assert.equal(out, '7  now  vm.power  a  powered on\n8  now  vm.power  a  powered on\n')
  assert.deepEqual(
    daemon.headers.map((each) => each['last-event-id']),
    [undefined, '7'],
  )
})
