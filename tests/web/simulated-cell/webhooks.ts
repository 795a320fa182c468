// Webhooks of the simulated cell. One works, the receiver of another refuses, and nothing is sent.
import { KIND, uuidOf } from './inventory.ts'
import { answer, first, noContent, row, type SimulatedRow } from './row.ts'
import { readBody } from './send.ts'
import { media } from './vm-documents.ts'

interface SimulatedWebhook {
  readonly name: string
  url: string
  kind: readonly string[]
  isEnabled: boolean
  readonly isRefused: boolean
}

type WebhookBody = Partial<SimulatedWebhook>

const CREATED = '2026-11-19T06:00:00.000Z'
const LISTED = 'admin/org/UUID/webhooks'
const listHref = `/api/admin/org/${uuidOf(KIND.org, 0)}/webhooks`
const hrefOf = (n: number): string => `/api/admin/webhook/${uuidOf(KIND.webhook, n)}`

/** By number; undefined: removed. */
const webhooks: (SimulatedWebhook | undefined)[] = [
  {
    name: 'siem',
    url: 'https://siem.example/events',
    kind: ['user.', 'session.', 'task.error'],
    isEnabled: true,
    isRefused: false,
  },
  {
    name: 'pager',
    url: 'https://pager.example/in',
    kind: [],
    isEnabled: true,
    isRefused: true,
  },
]

function documentOf(n: number, secret?: string) {
  const webhook = webhooks[n]
  if (!webhook) return undefined
  const { name, url, kind, isEnabled, isRefused } = webhook
  const href = hrefOf(n)
  const answered = isRefused ? 'answered 503' : 'answered 204'
  return {
    name,
    href,
    isEnabled,
    url,
    kind,
    ...(secret !== undefined && { secret }),
    behind: isRefused ? 42 : 0,
    ...(!isEnabled && { disabledBecause: 'asked' }),
    ...(isRefused && { failingSince: CREATED, lastAnswer: answered }),
    link: [
      { rel: 'edit', href, type: media('admin.webhook') },
      { rel: 'remove', href },
      { rel: 'test', href: `${href}/action/test` },
    ],
    delivery: Array.from({ length: 3 }, (_, at) => ({
      at: new Date(Date.parse(CREATED) - at * 60_000).toISOString(),
      taken: !isRefused,
      answer: answered,
      milliseconds: 12 + at,
      events: 5 - at,
      firstEvent: `0198${'0'.repeat(43)}${at}`,
      lastEvent: `0199${'0'.repeat(43)}${at}`,
    })),
  }
}

export const webhookRows: readonly SimulatedRow[] = [
  row('GET', LISTED, (request) =>
    answer(request, {
      link: [{ rel: 'add', href: listHref, type: media('admin.webhook') }],
      webhook: webhooks.flatMap((_, n) => documentOf(n) ?? []),
    }),
  ),
  row('POST', LISTED, async (request) => {
    const { name = '', url = '', kind = [] } = (await readBody(request.request)) as WebhookBody
    const n = webhooks.push({ name, url, kind, isEnabled: true, isRefused: false }) - 1
    answer(request, documentOf(n, 'whsec_c2ltdWxhdGVkIHNlY3JldCBvZiBhIHdlYmhvb2s='), 201)
  }),
  row('GET', 'admin/webhook/UUID', (request) => answer(request, documentOf(first(request)))),
  row('PUT', 'admin/webhook/UUID', async (request) => {
    const webhook = webhooks[first(request)]
    const { url, kind, isEnabled } = (await readBody(request.request)) as WebhookBody
    if (webhook) {
      webhook.url = url ?? webhook.url
      webhook.kind = kind ?? []
      webhook.isEnabled = isEnabled ?? webhook.isEnabled
    }
    answer(request, documentOf(first(request)))
  }),
  row('DELETE', 'admin/webhook/UUID', (request) => {
    webhooks[first(request)] = undefined
    noContent(request)
  }),
  row('POST', 'admin/webhook/UUID/action/test', (request) => {
    const taken = webhooks[first(request)]?.isRefused === false
    answer(request, { taken, message: taken ? 'answered 204' : 'answered 503' })
  }),
]
