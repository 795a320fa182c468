// The playbooks and lines of docs/guides/ansible.md, as they are written.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { blocksIn } from '../accept/doc-blocks.ts'

const PAGE = join(import.meta.dirname, '../../docs/guides/ansible.md')

export interface Guide {
  /** The YAML files, by name. */
  readonly files: ReadonlyMap<string, string>
  /** The lines of all `sh` blocks, in order. */
  readonly lines: readonly string[]
}

export async function readGuide(): Promise<Guide> {
  const text = await readFile(PAGE, 'utf8')
  const named = text.matchAll(/as `([\w.]+\.yml)`.*:\n```yaml\n([^]*?)```/g)
  const files = new Map([...named].map(([, name = '', content = '']) => [name, content]))
  const lines = blocksIn(text).flatMap((block) => block.split('\n').filter((line) => line !== ''))
  const unnamed = [...text.matchAll(/^```yaml$/gm)].length - files.size
  if (files.size === 0 || unnamed !== 0) {
    throw new Error(`${PAGE}: ${unnamed} YAML blocks have no "as \`NAME.yml\`:" before them`)
  }
  return { files, lines }
}
