/** How a screen is closed: the code and the words of the WebSocket's close frame (RFC 6455, 7.4; the 4000s are ours). */
export interface Ending {
  readonly code: number
  readonly reason: string
}

/** What the page knows how to explain; it goes by the code. */
export const endings = {
  poweredOff: { code: 4001, reason: 'the VM was powered off' },
  rightLost: { code: 4003, reason: 'the right to see this screen was lost' },
  stopping: { code: 4008, reason: 'the console stops here: open the screen again' },
  tooMany: { code: 4029, reason: 'this screen is open in too many windows' },
  hostLost: { code: 1011, reason: 'the link to the host was lost' },
  textRefused: { code: 1003, reason: 'a screen speaks in binary frames only' },
} as const satisfies Record<string, Ending>

/** A close frame carries 123 bytes of reason (RFC 6455, 5.5); what is longer would throw and never be told. */
const REASON_BYTES = 123

/** An abort signal's reason as the viewer is told it. */
export function endingOf(reason: unknown): Ending {
  if (isEnding(reason)) return { code: reason.code, reason: shortened(reason.reason) }
  return endings.stopping
}

function isEnding(value: unknown): value is Ending {
  const { code, reason } = (value ?? {}) as Partial<Ending>
  return (
    typeof code === 'number' &&
    (code === 1000 || code === 1011 || (code >= 4000 && code <= 4999)) &&
    typeof reason === 'string'
  )
}

/** Cut between characters, never inside of one. */
export function shortened(words: string): string {
  const { read } = new TextEncoder().encodeInto(words, new Uint8Array(REASON_BYTES))
  return words.slice(0, read)
}
