/** One message of a stream of events; lines without data, such as a heartbeat, are none. */
export interface StreamEvent {
  readonly id: string | undefined
  /** What kind it is, where that is said beside the data. */
  readonly event: string | undefined
  readonly data: string
}

/** Reads messages out of bytes that may be cut anywhere (WHATWG HTML, 9.2.6). */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncIterable<StreamEvent> {
  const decoder = new TextDecoder()
  let waiting = ''
  for await (const chunk of chunks) {
    waiting += decoder.decode(chunk, { stream: true })
    const blocks = waiting.split('\n\n')
    waiting = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n')
      const field = (name: string) =>
        lines
          .filter((line) => line.startsWith(`${name}: `))
          .map((line) => line.slice(name.length + 2))
      const [id] = field('id')
      const [event] = field('event')
      yield { id, event, data: field('data').join('\n') }
    }
  }
}
