import assert from 'node:assert/strict'
import { test } from 'node:test'

import { QueryObserver } from '@tanstack/react-query'

import { queryClient, readAgain } from '../src/data/query-client.ts'

test('events during a read do not abort it, and are followed by one more read', async () => {
  const reads: { readonly signal: AbortSignal; readonly end: (answer: string) => void }[] = []
  const observer = new QueryObserver(queryClient, {
    queryKey: ['tasks'],
    queryFn: ({ signal }) => new Promise<string>((end) => void reads.push({ signal, end })),
  })
  const stop = observer.subscribe(() => undefined)
  const events = [readAgain('tasks'), readAgain('tasks'), readAgain('tasks')]
  assert.equal(reads.length, 1)
  reads[0]?.end('before the events')
  while (reads.length < 2) await new Promise(setImmediate)
  assert.equal(reads[0]?.signal.aborted, false)
  assert.equal(queryClient.getQueryData(['tasks']), 'before the events')
  reads[1]?.end('after the events')
  await Promise.all(events)
  assert.equal(reads.length, 2)
  assert.equal(queryClient.getQueryData(['tasks']), 'after the events')
  stop()
  queryClient.clear()
})
