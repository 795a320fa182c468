import { Fault } from '@skerry/fault'
import { attribute, element } from '@skerry/xml'

import { readRoot } from '../named.ts'
import type { RequestDocument } from '../request-document.ts'

export const secondFactorCode: RequestDocument<{ readonly code: string }> = {
  media: 'secondFactorCode',
  shape: 'SecondFactorCode',
  example: () => element('SecondFactorCode', { code: '123456' }),
  read(raw) {
    const code = attribute(readRoot(raw, 'SecondFactorCode'), 'code') ?? ''
    if (/^\d{3}\s?\d{3}$/.test(code)) return { code }
    throw new Fault('invalid', 'code must be the six digits that the app shows')
  },
}
