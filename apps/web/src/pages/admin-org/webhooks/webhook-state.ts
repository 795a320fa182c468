import type { WebhookDocument } from '../../../api/documents.ts'

interface WebhookState {
  readonly text: string
  /** A class of page.module.css. */
  readonly tone: 'good' | 'warn' | 'idle'
}

const whyDisabled: Readonly<Record<string, string>> = {
  failing: 'Given up after three days',
  gone: 'Given up: it answered 410',
}

/** What the list shows of a webhook. Pure. */
export function webhookState(
  webhook: Pick<WebhookDocument, 'isEnabled' | 'disabledBecause' | 'failingSince' | 'lastAnswer'>,
): WebhookState {
  const { isEnabled, disabledBecause = '', failingSince, lastAnswer } = webhook
  const given = whyDisabled[disabledBecause]
  if (given !== undefined) return { text: given, tone: 'warn' }
  if (!isEnabled) return { text: 'Disabled', tone: 'idle' }
  if (failingSince === undefined) return { text: 'Working', tone: 'good' }
  const text = lastAnswer === undefined ? 'Failing' : `Failing: it ${lastAnswer}`
  return { text, tone: 'warn' }
}
