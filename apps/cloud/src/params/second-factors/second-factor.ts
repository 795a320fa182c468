import { element } from '@skerry/xml'

import { readNamed } from '../named.ts'
import type { RequestDocument } from '../request-document.ts'

export const secondFactorParams: RequestDocument<{ readonly name: string }> = {
  media: 'secondFactorParams',
  shape: 'SecondFactorParams',
  example: ({ name = 'phone' }) => element('SecondFactorParams', { name }),
  read: (raw) => ({ name: readNamed(raw, 'SecondFactorParams').name }),
}
