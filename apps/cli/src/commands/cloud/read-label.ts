import { Failure } from '../../terminal/failure.ts'

/** A metadata entry of a VM. */
export interface Label {
  readonly key: string
  readonly value: string
}

/** Reads KEY=VALUE. */
export function readLabel(written: string): Label {
  const at = written.indexOf('=')
  if (at > 0) return { key: written.slice(0, at), value: written.slice(at + 1) }
  throw new Failure('usage', `${written} is not a label`, { hint: 'write it like role=web' })
}
