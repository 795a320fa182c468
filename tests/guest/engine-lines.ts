import type { FaultKind } from '@skerry/fault'

export interface Question {
  readonly id: number
  readonly call: string
  readonly args: readonly unknown[]
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number
      readonly fault: { readonly kind: FaultKind; readonly message: string; readonly hint?: string }
    }

/** A request of the engine to its driver: a step that another host must execute. */
export interface Errand {
  readonly errand: number
  readonly call: string
  readonly args: readonly unknown[]
}

/** One line of JSON. Bytes are base64, integers beyond JSON's range are decimal strings. */
export function toLine(value: unknown): string {
  const line = JSON.stringify(value, (_, each: unknown) => {
    if (typeof each === 'bigint') return { $integer: String(each) }
    const bytes = each as { type?: string; data?: number[] } | null
    return bytes?.type === 'Buffer'
      ? { $bytes: Buffer.from(bytes.data ?? []).toString('base64') }
      : each
  })
  // JSON does not escape Unicode line separators, and line readers split at them.
  return `${line.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`
}

export function fromLine(line: string): unknown {
  return JSON.parse(line, (_, each: { $integer?: string; $bytes?: string } | null) => {
    if (typeof each?.$integer === 'string') return BigInt(each.$integer)
    if (typeof each?.$bytes === 'string') return Buffer.from(each.$bytes, 'base64')
    return each
  })
}
