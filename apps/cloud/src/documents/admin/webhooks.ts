import type { OrgId } from '@skerry/vm'
import { element, type Element } from '@skerry/xml'

import type { Caller } from '../../auth/caller.ts'
import type { EventCursors } from '../../feeds/event-cursors.ts'
import { link, type Hrefs } from '../../http/links.ts'
import type { DeliveryRow, WholeWebhook } from '../../webhooks/webhooks.ts'

export interface WebhookLook {
  readonly hrefs: Hrefs
  /** Event ids as the organisation of the webhook sees them. */
  readonly cursors: EventCursors
  /** Only in the response that makes it. */
  readonly secret?: string
}

export function webhookList(
  org: OrgId,
  all: readonly WholeWebhook[],
  caller: Caller,
  look: WebhookLook,
): Element {
  const { media } = caller.dialect
  const href = look.hrefs.webhooks(org)
  return element(
    'Webhooks',
    { type: media('admin.webhooks'), href },
    link('up', look.hrefs.adminOrg(org), { type: media('admin.org') }),
    link('add', href, { type: media('admin.webhook') }),
    ...all.map((each) => webhookDocument(each, caller, look)),
  )
}

/** Never contains a stored secret. */
export function webhookDocument(
  { webhook, behind, deliveries }: WholeWebhook,
  { dialect }: Caller,
  { hrefs, cursors, secret }: WebhookLook,
): Element {
  const { id, org, name, url, kinds, disabled, attempts } = webhook
  const { failing_since: failing, next_at: next, last_answer: answer } = webhook
  const type = dialect.media('admin.webhook')
  const href = hrefs.webhook(id)
  const waits = attempts > 0 && disabled === null
  return element(
    'Webhook',
    { name, id: dialect.urn('webhook', id), type, href },
    link('up', hrefs.webhooks(org), { type: dialect.media('admin.webhooks') }),
    link('edit', href, { type }),
    link('remove', href),
    link('test', `${href}/action/test`),
    link('resend', `${href}/action/resend`, { type: dialect.media('admin.resendParams') }),
    link('replaceSecret', `${href}/action/replaceSecret`),
    element('IsEnabled', {}, String(disabled === null)),
    element('Url', {}, url),
    ...kinds.map((kind) => element('Kind', {}, kind)),
    secret !== undefined && element('Secret', {}, secret),
    element('Behind', {}, String(behind)),
    disabled !== null && element('DisabledBecause', {}, disabled),
    failing !== null && element('FailingSince', {}, failing.toISOString()),
    waits && element('NextAttempt', {}, next.toISOString()),
    answer !== null && element('LastAnswer', {}, answer),
    ...deliveries.map((each) => deliveryElement(each, cursors)),
  )
}

const deliveryElement = (
  { at, first_tx, first_seq, last_tx, last_seq, ...row }: DeliveryRow,
  cursors: EventCursors,
): Element =>
  element('Delivery', {
    at: at.toISOString(),
    taken: row.taken,
    answer: row.answer,
    status: row.status ?? undefined,
    milliseconds: row.milliseconds,
    events: row.events,
    firstEvent: cursors.write({ tx: first_tx, seq: first_seq }),
    lastEvent: cursors.write({ tx: last_tx, seq: last_seq }),
  })

export const webhookTest = (
  { taken, message }: { readonly taken: boolean; readonly message: string },
  { dialect }: Caller,
): Element =>
  element(
    'WebhookTest',
    { type: dialect.media('admin.webhookTest'), taken },
    element('Message', {}, message),
  )
