import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, element, text, type Element } from '@skerry/xml'

import type { NewWebhook, WebhookSettings } from '../../webhooks/webhooks.ts'
import { childText, readBoolean } from '../child-text.ts'
import { readRoot } from '../named.ts'
import type { RequestDocument } from '../request-document.ts'

const [SHAPE, MEDIA] = ['Webhook', 'admin.webhook'] as const
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/
const URL_MAX = 2048
const KINDS_MAX = 32
/** 'vm.status', or 'vm.' for all that begin with it. */
const KIND = /^[a-z][a-z-]{0,62}(\.([a-z][a-z-]{0,62})?)?$/

const invalid = (message: string): Fault => new Fault('invalid', message)

/** Whether its server may be called is decided by the list of the egress. */
function urlIn(root: Element): string {
  const url = (childText(root, 'Url') ?? '').trim()
  const read = /^[\x21-\x5b\x5d-\x7e]+$/.test(url) && url.length <= URL_MAX ? URL.parse(url) : null
  const isHttp = read?.protocol === 'https:' || read?.protocol === 'http:'
  if (read && isHttp && read.username === '' && read.password === '' && read.hash === '') {
    return url
  }
  throw invalid(
    `Url must be like https://siem.example/events, with at most ${URL_MAX} ASCII characters, without a user name, password or fragment`,
  )
}

function kindsIn(root: Element): readonly string[] {
  const kinds = childrenByLocalName(root, 'Kind').map((each) => (text(each) ?? '').trim())
  if (kinds.length > KINDS_MAX) throw invalid(`a webhook can name at most ${KINDS_MAX} kinds`)
  const wrong = kinds.find((kind) => !KIND.test(kind))
  if (wrong === undefined) return kinds
  throw invalid(`Kind must be like task.error, or vm. for all that begin with it, not ${wrong}`)
}

const settingsIn = (root: Element): WebhookSettings => ({
  url: urlIn(root),
  kinds: kindsIn(root),
  enabled: readBoolean(root, 'IsEnabled'),
})

const settingsExample = (): readonly Element[] => [
  element('Url', {}, 'https://siem.example/events'),
  element('Kind', {}, 'user.'),
  element('Kind', {}, 'task.error'),
]

/** Webhook: one to add. */
export const newWebhook: RequestDocument<NewWebhook> = {
  media: MEDIA,
  shape: SHAPE,
  example: ({ name = 'siem' }) =>
    element(SHAPE, { name: NAME.test(name) ? name : 'siem' }, ...settingsExample()),
  read(raw) {
    const root = readRoot(raw, SHAPE)
    const name = attribute(root, 'name') ?? ''
    if (!NAME.test(name)) throw invalid('name must have 1 to 63 of a-z, 0-9 and -')
    return { name, ...settingsIn(root) }
  },
}

/** Webhook, as it was read and changed. */
export const changedWebhook: RequestDocument<WebhookSettings> = {
  media: MEDIA,
  shape: SHAPE,
  example: () => element(SHAPE, {}, element('IsEnabled', {}, 'true'), ...settingsExample()),
  read: (raw) => settingsIn(readRoot(raw, SHAPE)),
}
