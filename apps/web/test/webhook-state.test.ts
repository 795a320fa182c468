import assert from 'node:assert/strict'
import { test } from 'node:test'

import { webhookState } from '../src/pages/admin-org/webhooks/webhook-state.ts'

const rows: readonly [
  document: Parameters<typeof webhookState>[0],
  expected: ReturnType<typeof webhookState>,
][] = [
  [{ isEnabled: true }, { text: 'Working', tone: 'good' }],
  [
    { isEnabled: false, disabledBecause: 'asked' },
    { text: 'Disabled', tone: 'idle' },
  ],
  [
    { isEnabled: false, disabledBecause: 'failing', lastAnswer: 'answered 500' },
    { text: 'Given up after three days', tone: 'warn' },
  ],
  [
    { isEnabled: false, disabledBecause: 'gone' },
    { text: 'Given up: it answered 410', tone: 'warn' },
  ],
  [
    { isEnabled: true, failingSince: '2026-11-19T08:00:00.000Z', lastAnswer: 'answered 500' },
    { text: 'Failing: it answered 500', tone: 'warn' },
  ],
  [
    { isEnabled: true, failingSince: '2026-11-19T08:00:00.000Z' },
    { text: 'Failing', tone: 'warn' },
  ],
]
for (const [document, expected] of rows) {
  test(`the state of a webhook: ${expected.text}`, () => {
    assert.deepEqual(webhookState(document), expected)
  })
}
