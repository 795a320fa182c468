import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'

import { Failure } from './failure.ts'

/** Reads a secret: typed without echo, or the first line of input that is not a terminal. */
export async function readSecret(
  prompt: string,
  input: NodeJS.ReadableStream & { readonly isTTY?: boolean },
  screen: { readonly write: (text: string) => unknown },
): Promise<string> {
  if (input.isTTY !== true) return (await text(input)).split(/\r?\n/)[0] ?? ''
  const unseen = new Writable({ write: (chunk, encoding, done) => done() })
  const lines = createInterface({ input, output: unseen, terminal: true })
  screen.write(prompt)
  try {
    const typed = await Promise.race([
      once(lines, 'line').then(([line]) => String(line)),
      once(lines, 'close').then(() => undefined),
    ])
    if (typed !== undefined) return typed
    throw new Failure('refused', 'no password entered')
  } finally {
    screen.write('\n')
    lines.close()
  }
}
