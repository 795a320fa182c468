// The mounts that this process sees.
import { readFileSync } from 'node:fs'

import { attempt } from './run.ts'

export interface Mount {
  readonly at: string
  /** The mounted part of the file system; for a namespace its name, such as `net:[4026532201]`. */
  readonly root: string
}

export function allMounts(): Mount[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .trim()
    .split('\n')
    .map((line) => {
      const [, , , root = '', at = ''] = line.split(' ')
      return { root: unescape(root), at: unescape(at) }
    })
}

/** Unmounts everything at or below a directory, so that removing it cannot reach mounted files. */
export async function unmountBelow(directory: string): Promise<void> {
  const below = () =>
    allMounts().filter(({ at }) => at === directory || at.startsWith(`${directory}/`))
  for (const { at } of below().toReversed()) await attempt(['umount', '--lazy', at])
  const left = below()
  if (left.length > 0) {
    throw new Error(`still mounted: ${left.map(({ at }) => at).join(', ')}; unmount these manually`)
  }
}

/** The kernel writes blanks and backslashes in paths as octal numbers. */
function unescape(path: string): string {
  return path.replaceAll(/(?:\\[0-7]{3})+/g, (octal) =>
    Buffer.from(
      octal
        .split('\\')
        .slice(1)
        .map((digits) => Number.parseInt(digits, 8)),
    ).toString(),
  )
}
