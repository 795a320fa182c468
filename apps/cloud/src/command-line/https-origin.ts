import type { Args, Options } from '@skerry/command-line'
import { Fault } from '@skerry/fault'

import { needed } from './command.ts'

/** The value of a required option that is the address of a server: HTTPS, without a path. */
export function httpsOrigin<All extends Options>(
  requested: Args<All>,
  option: keyof All & string,
  example: string,
): URL {
  const given = needed(requested, option)
  const url = URL.parse(given)
  if (url?.protocol === 'https:' && url.origin === given.replace(/\/$/, '')) return url
  throw new Fault('invalid', `--${option} must be like ${example}, not ${given}`)
}
