// The shell lines of docs/guides/console.md as one script for each of its two parts.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { blocksIn } from '../doc-blocks.ts'

export const ROOT = join(import.meta.dirname, '../../..')

/** The `sh` blocks below a heading, up to the next of its level; sudo is not needed here. */
export async function linesBelow(heading: string): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, 'docs/guides/console.md'), 'utf8')
  const part = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? ''
  const blocks = blocksIn(part)
  if (blocks.length === 0) throw new Error(`there is no line below ${heading}`)
  return blocks.map((block) => block.replaceAll('sudo ', ''))
}
