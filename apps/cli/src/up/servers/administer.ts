// Runs commands of `skerry admin` as programs, as on the machine of a cell.
import { parseAdmin } from '@skerry/command-line'

import { adminLine } from '../../machine/admin-line.ts'
import type { ChildOutcome } from '../../machine/child.ts'
import { askProgram } from '../../machine/child.ts'
import { Failure } from '../../terminal/failure.ts'

/** Runs `skerry admin …` and returns the JSON it prints. */
export type Administer = (words: readonly string[], input?: string) => Promise<unknown>

export const administering =
  (node: string, config: string): Administer =>
  async (words, input = '') => {
    const parsed = parseAdmin(['admin', ...words, '--config', config, '--json'])
    const command = [node, ...adminLine(parsed)]
    const out = await must(askProgram(command, { input }), `skerry ${parsed.name}`)
    return out.trim() === '' ? undefined : JSON.parse(out)
  }

/** The output of a program; a Failure with its own message and hint if it fails. */
export async function must(requested: Promise<ChildOutcome>, name: string): Promise<string> {
  const { code, out, err } = await requested
  if (code === 0) return out
  const lines = err
    .trim()
    .split('\n')
    .filter((line) => line !== '')
  const next = lines.find((line) => line.startsWith('next: '))?.slice('next: '.length)
  const said = lines.filter((line) => !line.startsWith('next: ')).slice(-6)
  throw new Failure('refused', `${name} exited with ${code}: ${said.join('\n') || 'no output'}`, {
    hint: next ?? 'fix the reported problem, then run skerry up again: it resumes',
  })
}
