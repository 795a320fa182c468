/** How a screen is closed: code and reason of the WebSocket's close frame (RFC 6455, 7.4; the 4000s are ours). */
export interface Ending {
  readonly code: number
  readonly reason: string
}

/** The endings that the page can explain; it selects the text by the code. */
export const endings = {
  poweredOff: { code: 4001, reason: 'the VM was powered off' },
  rightLost: { code: 4003, reason: 'the right to see this screen was lost' },
  stopping: { code: 4008, reason: 'the console stops here: open the screen again' },
  tooMany: { code: 4029, reason: 'this screen is open in too many windows' },
  hostLost: { code: 1011, reason: 'the link to the host was lost' },
  textRefused: { code: 1003, reason: 'only binary frames are accepted' },
} as const satisfies Record<string, Ending>

/** A close frame carries at most 123 bytes of reason (RFC 6455, 5.5); a longer one would throw. */
const REASON_BYTES = 123

/** Converts an abort signal's reason to the ending for the viewer. */
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

/** Cuts between characters, never inside one. */
export function shortened(words: string): string {
  const { read } = new TextEncoder().encodeInto(words, new Uint8Array(REASON_BYTES))
  return words.slice(0, read)
}
