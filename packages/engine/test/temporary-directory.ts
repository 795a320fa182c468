import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory that is removed at the end of the test, and the path of a file in it. */
export async function temporaryDirectory(): Promise<
  AsyncDisposable & { readonly path: string; readonly at: (name: string) => string }
> {
  const directory = await mkdtempDisposable(join(tmpdir(), 'skerry-engine-'))
  return {
    path: directory.path,
    at: (name) => join(directory.path, name),
    [Symbol.asyncDispose]: () => directory.remove(),
  }
}
