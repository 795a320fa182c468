/** One message of an event stream. */
export interface StreamEvent {
  readonly id: string | undefined
  /** The event type, if it is sent beside the data. */
  readonly event: string | undefined
  readonly data: string
}

/** Parses server-sent events (WHATWG HTML, 9.2.6); chunks may end anywhere. */
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
