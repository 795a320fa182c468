import { element } from '@skerry/xml'

import { readNamed } from './named.ts'
import type { RequestDocument } from './request-document.ts'

export const accessTokenParams: RequestDocument<{ readonly name: string }> = {
  media: 'accessTokenParams',
  shape: 'AccessTokenParams',
  example: ({ name = 'nightly' }) => element('AccessTokenParams', { name }),
  read: (raw) => ({ name: readNamed(raw, 'AccessTokenParams').name }),
}
