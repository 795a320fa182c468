import { Fault } from '@skerry/fault'
import { element } from '@skerry/xml'

import { childText } from '../child-text.ts'
import { readRoot } from '../named.ts'
import type { RequestDocument } from '../request-document.ts'

const SHAPE = 'ResendParams'
const EVENT_MAX = 100

/** ResendParams: the first event that is sent again, by its id. */
export const resendParams: RequestDocument<string> = {
  media: 'admin.resendParams',
  shape: SHAPE,
  // Before the first event: the id of an event is different in each cloud.
  example: () => element(SHAPE, {}, element('From', {}, '0-0')),
  read(raw) {
    const from = (childText(readRoot(raw, SHAPE), 'From') ?? '').trim()
    if (from !== '' && from.length <= EVENT_MAX) return from
    throw new Fault('invalid', 'From must be the id of an event, or 0-0 for all that are kept')
  },
}
