// The inputs of a guest image.

export interface Recipe {
  readonly kind: 'small' | 'debian'
  /** Our files that go into the image or define its build; a change makes a new image. */
  readonly files: readonly string[]
  /** Debian packages whose version goes into the image; a new version makes a new image. */
  readonly packages: readonly string[]
  /** Builds a qcow2 image at `out`, with a work directory that is removed afterwards. */
  build(work: string, out: string, say: (line: string) => void): Promise<void>
}
