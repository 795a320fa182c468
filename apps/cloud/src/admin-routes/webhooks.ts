import { Fault } from '@skerry/fault'

import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'
import {
  webhookDocument,
  webhookList,
  webhookTest,
  type WebhookLook,
} from '../documents/admin/webhooks.ts'
import { hrefsIn } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import { resendParams } from '../params/webhooks/resend.ts'
import { changedWebhook, newWebhook } from '../params/webhooks/webhook.ts'
import { testMessage } from '../webhooks/batch.ts'
import { describe, isTaken } from '../webhooks/decide-delivery.ts'
import type { PostMessage } from '../webhooks/egress.ts'
import { newSecret, signedHeaders } from '../webhooks/signature.ts'
import {
  addWebhook,
  changeWebhook,
  deleteWebhook,
  replaceSecret,
  resendFrom,
  secretsOf,
  webhooksOf,
  wholeWebhook,
  type Secret,
  type WebhookRow,
} from '../webhooks/webhooks.ts'

const lookAt = (
  context: RequestContext,
  { org }: Pick<WebhookRow, 'org'>,
  secret?: string,
): WebhookLook => ({
  hrefs: hrefsIn(context),
  cursors: context.eventCursors(org),
  ...(secret !== undefined && { secret }),
})

const secretIn = ({ secret, seal }: RequestContext): Secret => ({
  secret: newSecret(secret()),
  close: (text, about) => seal.close(text, about),
})

function egressOf({ postMessage }: RequestContext): PostMessage {
  if (postMessage) return postMessage
  throw new Fault('unavailable', 'this cloud has no egress, through which webhooks are sent', {
    hint: 'the operator sets it up: skerry admin init --egress SOCKET',
  })
}

/** Sends one message now, and says what the receiver answered: one that does not take it is a result of the test. */
async function tryWebhook(
  context: RequestContext,
  webhook: WebhookRow,
): Promise<{ readonly taken: boolean; readonly message: string }> {
  const post = egressOf(context)
  const { org, id, url } = webhook
  const now = context.clock.now()
  const message = `${id}_test_${context.secret()}`
  const body = testMessage(webhook, message, now, context.base)
  const secrets = secretsOf(webhook, now, (sealed, about) => context.seal.open(sealed, about))
  const outcome = await post({
    org,
    url,
    headers: signedHeaders(secrets, message, now, body),
    body,
  })
  return { taken: isTaken(outcome), message: describe(outcome) }
}

export const webhooks = [
  readRoute({
    name: 'listWebhooks',
    path: at.webhooks,
    permission: 'org:admin',
    answers: { 200: 'admin.webhooks' },
    doc: 'The webhooks of an organisation, by name: addresses that get its events. Without their deliveries.',
    read: (tx, { org }) => webhooksOf(tx, org.id),
    show: (context, caller, all) => {
      const { org } = caller.params
      const look = lookAt(context, { org: org.id })
      return { status: 200, body: webhookList(org.id, all, caller, look) }
    },
  }),
  route({
    name: 'addWebhook',
    method: 'POST',
    path: at.webhooks,
    permission: 'org:admin',
    takes: newWebhook,
    answers: { 201: 'admin.webhook' },
    doc: 'Adds a webhook, which gets the events of the organisation from now on, in their order, as batches of CloudEvents that are signed as Standard Webhooks are. A webhook of the organisation System gets the events of all organisations. Kind: vm. is all kinds that begin with it; without any, all are sent. The response contains the Secret, which is never shown again. Only servers on the list of the egress are called.',
    async handle(context, caller) {
      egressOf(context)
      const { principal, body, params } = caller
      const secret = secretIn(context)
      const made = await context.as(principal, (tx) =>
        addWebhook(tx, principal, params.org.id, body, secret),
      )
      const look = lookAt(context, made.webhook, secret.secret)
      const headers = { location: look.hrefs.webhook(made.webhook.id) }
      return { status: 201, headers, body: webhookDocument(made, caller, look) }
    },
  }),
  readRoute({
    name: 'readWebhook',
    path: at.webhook,
    permission: 'org:admin',
    answers: { 200: 'admin.webhook' },
    doc: 'A webhook with its last 20 deliveries. Behind: events after the last that was taken, counted up to 1000. FailingSince: the receiver has taken nothing since then.',
    read: (tx, { webhook }) => wholeWebhook(tx, webhook),
    show: (context, caller, found) => ({
      status: 200,
      body: webhookDocument(found, caller, lookAt(context, found.webhook)),
    }),
  }),
  route({
    name: 'changeWebhook',
    method: 'PUT',
    path: at.webhook,
    permission: 'org:admin',
    takes: changedWebhook,
    answers: { 200: 'admin.webhook' },
    doc: 'Replaces Url and Kind, enables or disables a webhook. One that is enabled again continues where it stopped.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const changed = await context.as(principal, (tx) =>
        changeWebhook(tx, principal, params.webhook, body),
      )
      return {
        status: 200,
        body: webhookDocument(changed, caller, lookAt(context, params.webhook)),
      }
    },
  }),
  route({
    name: 'deleteWebhook',
    method: 'DELETE',
    path: at.webhook,
    permission: 'org:admin',
    answers: { 204: 'nothing' },
    doc: 'Removes a webhook and the list of its deliveries.',
    async handle(context, { principal, params }) {
      await context.as(principal, (tx) => deleteWebhook(tx, principal, params.webhook))
      return { status: 204 }
    },
  }),
  route({
    name: 'testWebhook',
    method: 'POST',
    path: at.testWebhook,
    permission: 'org:admin',
    answers: { 200: 'admin.webhookTest' },
    doc: 'Sends a message with one event of the type skerry.webhook.test now. The answer is 200 also if the receiver does not take it; taken and Message report it.',
    async handle(context, caller) {
      const tested = await tryWebhook(context, caller.params.webhook)
      return { status: 200, body: webhookTest(tested, caller) }
    },
  }),
  route({
    name: 'resendEvents',
    method: 'POST',
    path: at.resendEvents,
    permission: 'org:admin',
    takes: resendParams,
    answers: { 200: 'admin.webhook' },
    doc: 'Sends the events again, from this one on, in their order; From is the id of an event that was sent, or 0-0 for all that are kept.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const look = lookAt(context, params.webhook)
      const from = look.cursors.read(body)
      const changed = await context.as(principal, (tx) =>
        resendFrom(tx, principal, params.webhook, from),
      )
      return { status: 200, body: webhookDocument(changed, caller, look) }
    },
  }),
  route({
    name: 'replaceSecret',
    method: 'POST',
    path: at.replaceSecret,
    permission: 'org:admin',
    answers: { 200: 'admin.webhook' },
    doc: 'Replaces the secret of a webhook; the response contains the new one, which is never shown again. For 24 hours messages are signed with both.',
    async handle(context, caller) {
      const { principal, params } = caller
      const secret = secretIn(context)
      const changed = await context.as(principal, (tx) =>
        replaceSecret(tx, principal, params.webhook, secret),
      )
      const look = lookAt(context, params.webhook, secret.secret)
      return { status: 200, body: webhookDocument(changed, caller, look) }
    },
  }),
]
