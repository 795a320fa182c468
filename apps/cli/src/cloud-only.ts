import { query } from '@skerry/cloud-client'

import type { Kind } from './cloud-named.ts'
import type { CloudSide } from './cloud-side.ts'
import { Failure } from './failure.ts'

/** So many names fit into a line. */
const NAMES_MAX = 12

interface Only {
  readonly none: string
  readonly noneHint: string
  readonly several: string
  readonly option: string
}

/** Where the only one of its kind is, for who named none. */
export async function onlyOne({ cloud }: CloudSide, { type }: Kind, only: Only): Promise<string> {
  const asked = { type, sortAsc: 'name', limit: NAMES_MAX }
  const found = await Array.fromAsync(query(cloud, asked))
  const [first, other] = found
  if (!first) throw new Failure('refused', only.none, { hint: only.noneHint })
  if (!other) return first['href'] ?? ''
  const names = found.map(({ name }) => name).join(', ')
  throw new Failure('refused', only.several, { hint: `say which by ${only.option}: ${names}` })
}
