import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory that is removed at the end of the test, and the path of a file in it. */
export async function temporaryDirectory(): Promise<
  AsyncDisposable & { at(name: string): string }
> {
  const directory = await mkdtempDisposable(join(tmpdir(), 'skerry-image-'))
  return {
    at: (name) => join(directory.path, name),
    [Symbol.asyncDispose]: () => directory.remove(),
  }
}
