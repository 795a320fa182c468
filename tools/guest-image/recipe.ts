// What every guest image is made from.

export interface Recipe {
  readonly kind: 'small' | 'debian'
  /** Files of ours that go into the image or say how it is made; a change in one makes a new image. */
  readonly files: readonly string[]
  /** Debian packages whose version goes into the image; a new version makes a new image. */
  readonly packages: readonly string[]
  /** Builds a qcow2 image at `out`, with a directory to work in that is removed afterwards. */
  build(work: string, out: string, say: (line: string) => void): Promise<void>
}
