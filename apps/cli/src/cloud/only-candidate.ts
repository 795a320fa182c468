import { query } from '@skerry/cloud-client'

import { Failure } from '../terminal/failure.ts'
import type { CloudSession } from '../vms/cloud-session.ts'
import type { Kind } from './named.ts'

/** How many names fit in a line. */
const NAMES_MAX = 12

interface Only {
  readonly none: string
  readonly noneHint: string
  readonly several: string
  readonly option: string
}

/** The href of the only resource of a kind, for a command line that names none. */
export async function onlyOne(
  { cloud }: CloudSession,
  { type }: Kind,
  only: Only,
): Promise<string> {
  const requested = { type, sortAsc: 'name', limit: NAMES_MAX }
  const found = await Array.fromAsync(query(cloud, requested))
  const [first, other] = found
  if (!first) throw new Failure('refused', only.none, { hint: only.noneHint })
  if (!other) return first['href'] ?? ''
  const names = found.map(({ name }) => name).join(', ')
  throw new Failure('refused', only.several, { hint: `choose one with ${only.option}: ${names}` })
}
