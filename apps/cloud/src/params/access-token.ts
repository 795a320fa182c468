import type { Body } from '@skerry/service'

import { readNamed } from './named.ts'

export const accessTokenParams: Body<{ readonly name: string }> = {
  media: 'accessTokenParams',
  shape: 'AccessTokenParams',
  read: (raw) => ({ name: readNamed(raw, 'AccessTokenParams').name }),
}
