/** All bytes of a stream. Throws `tooLarge` as soon as there are more than `most`; the caller closes the stream. */
export async function readBytes(
  stream: AsyncIterable<Buffer>,
  most: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes > most) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
