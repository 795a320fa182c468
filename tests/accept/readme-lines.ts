import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** The lines of the first block after a sentence of a document. */
export async function linesAfter(file: string, sentence: string): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, file), 'utf8')
  const [, after = ''] = text.split(sentence)
  const [, block = ''] = /```\n([^]*?)\n```/.exec(after) ?? []
  return block.split('\n')
}
