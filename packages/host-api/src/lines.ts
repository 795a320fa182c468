import type { IncomingMessage } from 'node:http'

import { Fault } from '@skerry/fault'

import { BODY_BYTES_MAX } from './wire.ts'

/** Reads one JSON text per line. Throws when nothing arrives for too long. */
export async function* readLines<T>(
  response: IncomingMessage,
  silenceMs: number,
  signal?: AbortSignal,
): AsyncGenerator<T, void> {
  let isSilent = false
  const timer = setTimeout(() => {
    isSilent = true
    response.destroy()
  }, silenceMs)
  const leave = () => response.destroy()
  signal?.addEventListener('abort', leave, { once: true })
  let rest = ''
  response.setEncoding('utf8')
  try {
    for await (const chunk of response as AsyncIterable<string>) {
      timer.refresh()
      const lines = (rest + chunk).split('\n')
      rest = lines.pop() ?? ''
      if (rest.length > BODY_BYTES_MAX) throw new Fault('unavailable', 'a line is too long')
      for (const line of lines) yield JSON.parse(line) as T
    }
  } catch (error) {
    if (signal?.aborted) return
    if (error instanceof Fault) throw error
    const message = isSilent ? `no data for ${silenceMs / 1000} s` : 'the connection was lost'
    throw new Fault('unavailable', message, { cause: error })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', leave)
    response.destroy()
  }
}
